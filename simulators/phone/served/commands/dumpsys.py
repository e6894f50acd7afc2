"""`dumpsys`: the parts of the system services' output that scripts read.

The lines are those of Android 14, and those of older versions that scripts still search (`mResumedActivity`).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from lab.core.run.step import Point
from simulators.phone import keyboard
from simulators.phone.installed import APPS
from simulators.phone.kit.theme import HEIGHT, WIDTH
from simulators.phone.served.commands.call import Command, CommandCall, CommandRefused
from simulators.phone.served.commands.installed import component, packages, path, pid, selected
from simulators.phone.served.commands.screen import COVER, DENSITY, MONITOR, PHYSICAL_DISPLAY


def dumpsys(call: CommandCall) -> int:
    args = list(call.args)
    while args and args[0].startswith("-"):
        flag = args.pop(0)
        if flag == "-l":
            call.say("Currently running services:\n" + "\n".join(f"  {name}" for name in sorted(_SERVICES)))
            return 0
        if flag == "-t" and args:
            args.pop(0)
    if not args:
        for name in sorted(_SERVICES):
            rule = "-" * 79
            call.say(f"{rule}\nDUMP OF SERVICE {name}:")
            _SERVICES[name](call, [])
        return 0
    if args[0] not in _SERVICES:
        raise CommandRefused(f"Can't find service: {args[0]}", 0)
    _SERVICES[args[0]](call, args[1:])
    return 0


def _number(package: str) -> str:
    """Return the hash that Android writes before a record's name."""
    return f"{0x3F2A10 + pid(package) * 4099:x}"


def _record(call: CommandCall) -> str:
    """Return the activity in front in ActivityRecord's format."""
    name = call.display.activity
    package = name.partition("/")[0]
    return f"ActivityRecord{{{_number(package)} u0 {name} t{pid(package) % 100}}}"


def _focus(call: CommandCall) -> str:
    name = call.display.activity
    package = name.partition("/")[0]
    if call.display.phone.current_screen().state["shade"] or call.display.lock:
        return f"Window{{{_number('shade')} u0 NotificationShade}}"
    return f"Window{{{_number(package)} u0 {name.replace('/', '/' + package)}}}"


def _window(call: CommandCall, args: list[str]) -> None:
    what = args[0] if args else ""
    if what in ("policy", "p", ""):
        lit, typing = call.display.awake, call.display.typing
        call.say("WINDOW MANAGER POLICY STATE (dumpsys window policy)")
        call.say("    mSafeMode=false mSystemReady=true mSystemBooted=true")
        call.say(f"    mAwake={_bool_text(lit)} mInteractive={_bool_text(lit)}")
        call.say(f"    screenState={'SCREEN_STATE_ON' if lit else 'SCREEN_STATE_OFF'}")
        call.say(f"    mShowingDream=false mIsImeShowing={_bool_text(typing)}")
        call.say(f"    KeyguardServiceDelegate\n      showing={_bool_text(call.display.lock)}")
        call.say(f"      inputRestricted={_bool_text(call.display.lock)}\n      occluded=false")
        call.say(f"      secure={_bool_text(call.display.lock == 'pin')}\n      dreaming=false")
    if what in ("displays", "d", ""):
        _window_displays(call)
    if what in ("windows", "w", ""):
        call.say("WINDOW MANAGER WINDOWS (dumpsys window windows)")
        call.say(f"  Window #0 {_focus(call)}:\n    mDisplayId=0 mSession=Session{{8d1f2a0 1800:u0a10107}}")
        secure = "SECURE " if call.display.secured else ""
        call.say("    mAttrs={(0,0)(fillxfill) sim={adjust=resize} ty=BASE_APPLICATION fmt=TRANSLUCENT")
        call.say(f"      fl=LAYOUT_IN_SCREEN LAYOUT_INSET_DECOR {secure}SPLIT_TOUCH HARDWARE_ACCELERATED}}")
        call.say(f"    mHasSurface=true isReadyForDisplay()=true mRotation=ROTATION_{90 * call.display.rotation}")
    call.say(f"  mCurrentFocus={_focus(call)}\n  mFocusedApp={_record(call)}")


def _window_displays(call: CommandCall) -> None:
    wide, high = call.display.size
    call.say("WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)")
    if call.display.second:
        call.say("  Display: mDisplayId=2 (organized)\n    init=1920x1080 240dpi cur=1920x1080 app=1920x1080")
        call.say("      mRotation=0\n  mCurrentFocus=Window{7c1 u0 com.example.desk/com.example.desk.Main}")
        call.say("  mFocusedApp=ActivityRecord{7c2 u0 com.example.desk/.Main t9}")
    call.say("  Display: mDisplayId=0 (organized)")
    call.say(f"    init={WIDTH}x{HEIGHT} {DENSITY}dpi cur={wide}x{high} app={wide}x{high - 132} rng=1080x984-2268x2172")
    call.say("    DisplayRotation\n      mCurrentAppOrientation=SCREEN_ORIENTATION_PORTRAIT")
    call.say(f"      mRotation={call.display.rotation}\n      mCurrentRotation=ROTATION_{90 * call.display.rotation}")
    ime = f"Window{{{_number('ime')} u0 InputMethod}}"
    call.say(f"    mInputMethodWindow={ime}\n    imeControlTarget={_focus(call) if call.display.typing else 'null'}")


def _activity(call: CommandCall, args: list[str]) -> None:
    name = call.display.activity
    package = name.partition("/")[0]
    if args[:1] == ["top"]:
        call.say(f"TASK {pid(package) % 100}:{package} id={pid(package) % 100} userId=0")
        call.say(f"  ACTIVITY {name} {_number(package)} pid={pid(package)}")
        return
    call.say("ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\nDisplay #0 (activities from top to bottom):")
    call.say(f"  * Task{{{_number(package)} #{pid(package) % 100} type=standard A=10107:{package} U=0 visible=true}}")
    call.say(f"    mResumedActivity: {_record(call)}\n  topResumedActivity={_record(call)}")
    call.say(f"\n  ResumedActivity: {_record(call)}")
    if args[:1] == ["recents"] or not args:
        for number, app in enumerate(call.display.phone.current_screen().state["nav"]["recents"]):
            own = APPS[app].package
            call.say(f"  * Recent #{number}: Task{{{_number(own)} #{pid(own) % 100} type=standard A=10107:{own}}}")


def _bool_text(word: object) -> str:
    return str(bool(word)).lower()


_ACTIONS = {"Done": 6, "Search": 3, "Send": 4, "Next": 5, "Enter": 0x40000001}
"""The keyboard's enter key as EditorInfo.imeOptions."""


def _input_method(call: CommandCall, args: list[str]) -> None:
    typing = _bool_text(call.display.typing and call.display.awake)
    name = selected(call.services)
    call.say(f"Current Input Method Manager state:\n  mCurMethodId={name}\n  mCurId={name} mHaveConnection=true")
    call.say(f"  mShowRequested={typing} mShowExplicitlyRequested=false mShowForced=false mInputShown={typing}")
    call.say(f"  mInteractive={_bool_text(call.display.awake)}\n")
    call.say(f"Input method service state for {keyboard.PACKAGE}.Keyboard@30aa:")
    call.say(f"  mWindowVisible={typing} mInputStarted={typing} mInputViewStarted={typing} mIsInputViewShown={typing}")
    call.say("  mInputEditorInfo:\n" + "\n".join(f"    {line}" for line in _editor(call)))


def _editor(call: CommandCall) -> list[str]:
    """Return the keyboard's view of the current field (EditorInfo, InputType)."""
    field = call.display.field
    if field is None:
        return ["inputType=0x0 imeOptions=0x0 privateImeOptions=null", f"packageName={_front_package(call)} fieldId=-1"]
    kind = 0x12 if field.password and field.numeric else 0x81 if field.password else 0x2 if field.numeric else 0x1
    kind |= 0x20000 if field.many else 0
    return [
        f"inputType={kind:#x} imeOptions={_ACTIONS[field.action]:#x} privateImeOptions=null",
        f"hintText={field.hint or 'null'} label=null",
        f"packageName={_front_package(call)} fieldId=2131296{len(field.id):03} fieldName=null",
    ]


def _front_package(call: CommandCall) -> str:
    """Return the package in front."""
    return call.display.activity.partition("/")[0]


def _display(call: CommandCall, args: list[str]) -> None:
    wide, high = call.display.size
    rotation, state = call.display.rotation, "ON" if call.display.awake else "OFF"
    call.say("DISPLAY MANAGER (dumpsys display)\n  mOnlyCore=false\n  mSafeMode=false")
    ports = [_viewport("INTERNAL", 0, PHYSICAL_DISPLAY, rotation, (wide, high), call.display.lit)]
    if call.display.second:
        ports.insert(0, _viewport("EXTERNAL", 2, MONITOR, 0, (1920, 1080), call.display.awake))
    if call.display.folded:
        ports.append(_viewport("INTERNAL", 1, COVER, 0, (720, 748), call.display.awake))
    call.say(f"  mViewports=[{', '.join(ports)}]")
    call.say(
        f"  mStableDisplaySize=Point({WIDTH}, {HEIGHT})\n\nLogical Displays: size=1\n  Display 0:\n    mDisplayId=0"
    )
    call.say(
        f'    mBaseDisplayInfo=DisplayInfo{{"Built-in Screen", displayId 0, real {WIDTH} x {HEIGHT}, rotation 0, state '
        f"{state}, density {DENSITY}}}"
    )
    call.say(
        f'    mOverrideDisplayInfo=DisplayInfo{{"Built-in Screen", displayId 0, real {wide} x {high}, '
        f"rotation {rotation}, state {state}, density {DENSITY} (402.0 x 402.0) dpi}}"
    )
    call.say(f"\nDisplay States: size=1\n  Display Id=0\n  Display State={state}")


def _input(call: CommandCall, args: list[str]) -> None:
    """Print the input reader's touchscreen: its rotation, and the frames of touch coordinates."""
    (wide, high), rotation, lit = call.display.size, call.display.rotation, int(call.display.lit)
    port = (
        f"displayId=0, uniqueId=local:{PHYSICAL_DISPLAY}, port=0, orientation={rotation}, logicalFrame=[0, 0, {wide}, "
        f"{high}], physicalFrame=[0, 0, {wide}, {high}], deviceSize=[{wide}, {high}], isActive=[{lit}]"
    )
    call.say("INPUT MANAGER (dumpsys input)\n\nInput Reader State (Nums of device: 1):\n  Device 2: lantern_touch")
    call.say("    Sources: KEYBOARD | TOUCHSCREEN\n    Touch Input Mapper (mode - DIRECT):")
    call.say(f"      Viewport INTERNAL: {port}\n      SurfaceWidth: {wide}px\n      SurfaceHeight: {high}px")
    call.say(f"      SurfaceOrientation: {rotation}\nInput Dispatcher State:\n  FocusedWindows:")
    call.say(f"    displayId=0, name='{_focus(call)[7:-1]}'")


def _viewport(kind: str, number: int, panel: int, rotation: int, size: Point, lit: bool) -> str:
    frame = f"Rect(0, 0 - {size[0]}, {size[1]})"
    return (
        f"DisplayViewport{{type={kind}, valid=true, isActive={_bool_text(lit)}, displayId={number}, "
        f"uniqueId='local:{panel}', physicalPort=0, orientation={rotation}, logicalFrame={frame}, "
        f"physicalFrame={frame}, deviceWidth={size[0]}, deviceHeight={size[1]}}}"
    )


def _package(call: CommandCall, args: list[str]) -> None:
    if not args:
        call.say("\n".join(f"  Package [{name}] ({_number(name)}):" for name in sorted(packages(call.services))))
        return
    name = args[-1]
    if name not in packages(call.services):
        call.say(f"Unable to find package: {name}")
        return
    own = packages(call.services)[name]
    app = next((app for app in APPS.values() if app.package == name), None)
    if app is not None:
        call.say("Activity Resolver Table:\n  Non-Data Actions:\n      android.intent.action.MAIN:")
        call.say(f"        {_number(name)} {component(app)} filter {_number(name)[::-1]}")
        call.say(
            '          Action: "android.intent.action.MAIN"\n          Category: "android.intent.category.LAUNCHER"'
        )
    call.say(f"\nPackages:\n  Package [{name}] ({_number(name)}):\n    userId={10000 + pid(name) % 500}")
    call.say(
        f"    codePath={path(name).rpartition('/')[0]}\n    versionCode=1 minSdk=26 targetSdk=34\n    versionName=1.0"
    )
    flags = f"[ {'SYSTEM ' if own else ''}HAS_CODE ALLOW_BACKUP ]"
    call.say(f"    flags={flags}\n    pkgFlags={flags}\n    timeStamp=2026-01-05 09:30:00")
    call.say(
        f"    signatures=PackageSignatures{{{_number(name)} version:3, signatures:[5c41a7e2], past signatures:[]}}"
    )
    call.say("    firstInstallTime=2026-01-05 09:30:00\n    lastUpdateTime=2026-01-05 09:30:00")
    call.say("    User 0: ceDataInode=131 installed=true hidden=false suspended=false stopped=false enabled=0")


def _battery(call: CommandCall, args: list[str]) -> None:
    state = call.display.phone.current_screen().state
    charging = bool(state["charging"])
    status = 5 if charging and state["battery"] >= 100 else 2 if charging else 3
    call.say("Current Battery Service state:")
    call.say(
        f"  AC powered: false\n  USB powered: {_bool_text(charging)}\n  Wireless powered: false\n  Dock powered: false"
    )
    call.say("  Max charging current: 500000\n  Max charging voltage: 5000000\n  Charge counter: 3120000")
    call.say(
        f"  status: {status}\n  health: 2\n  present: true\n  level: {state['battery']}\n  scale: 100\n  voltage: 4012"
    )
    call.say("  temperature: 274\n  technology: Li-ion")


def _power(call: CommandCall, args: list[str]) -> None:
    lit = call.display.awake
    call.say("POWER MANAGER (dumpsys power)\n\nPower Manager State:")
    call.say(f"  mWakefulness={'Awake' if lit else 'Asleep'}\n  mWakefulnessChanging=false\n  mIsPowered=true")
    call.say(f"  mHoldingWakeLockSuspendBlocker=false\n  mHoldingDisplaySuspendBlocker={_bool_text(lit)}")
    call.say(f"Display Power: state={'ON' if lit else 'OFF'}")


def _surface_flinger(call: CommandCall, args: list[str]) -> None:
    if call.display.second:
        call.say(f'Display {MONITOR} (HWC display 1): port=1 pnpId=DEL displayName="Monitor"')
    if call.display.folded:
        call.say(f'Display {COVER} (HWC display 2): port=2 pnpId=LNT displayName="Cover"')
    call.say(f'Display {PHYSICAL_DISPLAY} (HWC display 0): port=0 pnpId=LNT displayName="Built-in Screen"')


def _notification(call: CommandCall, args: list[str]) -> None:
    call.say("Current Notification Manager state:\n  Notification List:")
    for note in call.display.phone.current_screen().state["notifications"]:
        package = APPS[note["app"]].package
        call.say(
            f"    NotificationRecord(0x{_number(package)}: pkg={package} user=UserHandle{{0}} id={note['id']} tag=null)"
        )
        call.say(f"      android.title=String ({note['title']})\n      android.text=String ({note['text']})")


def _alarm(call: CommandCall, args: list[str]) -> None:
    now = datetime.fromisoformat(call.display.phone.current_screen().state["clock"])
    call.say(f"Current Alarm Manager state:\n  nowRTC={round(now.timestamp() * 1000)}={now:%Y-%m-%d %H:%M:%S}")


_SERVICES: dict[str, Callable[[CommandCall, list[str]], None]] = {
    "window": _window, "activity": _activity, "input_method": _input_method, "display": _display,
    "package": _package, "battery": _battery, "power": _power, "SurfaceFlinger": _surface_flinger,
    "notification": _notification, "alarm": _alarm, "input": _input,
}  # fmt: skip
COMMANDS: dict[str, Command] = {"dumpsys": dumpsys}
