"""`am` and `monkey`: starting and stopping apps. Source: AOSP, ActivityManagerShellCommand.java, Monkey.java."""

from __future__ import annotations

import base64
import binascii

from lab.core.run.step import Action
from simulators.phone.app import App
from simulators.phone.installed import APPS
from simulators.phone.served.commands.call import Command, CommandCall, CommandRefused
from simulators.phone.served.commands.installed import ADB_KEYBOARD, LAUNCHER, by_package, component, pid, selected
from simulators.phone.served.commands.packages import answering

_NOT_STARTED = "Warning: Activity not started, its current task has been brought to the front"


def am(call: CommandCall) -> int:
    kind, *args = call.args or ["help"]
    match kind:
        case "start" | "start-activity":
            return _start(call, args)
        case "force-stop" | "kill" | "stop-app":
            app = by_package(args[-1]) if args else None
            if app is not None and kind != "kill":
                call.display.stop(app.id)
            return 0
        case "broadcast":
            return _broadcast(call, args)
        case "stack" if args[:1] == ["list"]:
            return _stacks(call)
        case "get-current-user":
            call.say("0")
            return 0
        case "startservice" | "start-foreground-service":
            raise CommandRefused("Error: Not found; no service started.")
    raise CommandRefused(f"Unknown command: {kind}", 255)


def _stacks(call: CommandCall) -> int:
    """`am stack list`: each task with its visibility, the front one first."""
    front, (wide, high) = call.display.activity, call.display.size
    own = front.partition("/")[0]
    others = [APPS[app] for app in _running_apps(call) if APPS[app].package != own]
    tasks = [(own, front, True), *((app.package, component(app), False) for app in dict.fromkeys(others))]
    for package, name, visible in tasks:
        task, whole = pid(package) % 100, name.replace("/.", f"/{package}.")
        box = f"bounds=[0,0][{wide},{high}]"
        call.say(
            f"RootTask id={task} {box} displayId=0 userId=0\n  configuration={{1.0 ?mcc?mnc [en_US] ldltr 420dpi}}"
        )
        top = f" topActivity=ComponentInfo{{{whole}}}" if visible else ""
        call.say(f"  taskId={task}: {whole} {box} userId=0 visible={str(visible).lower()}{top}\n")
    return 0


def _intent(options: dict[str, str], args: list[str]) -> str:
    """Return an intent in Android's text form."""
    words = [
        ("act", options.get("-a")),
        ("cat", options.get("-c") and f"[{options['-c']}]"),
        ("dat", options.get("-d")),
    ]
    words += [("pkg", options.get("-p")), ("cmp", options.get("-n"))]
    extras = ["(has extras)"] if any(arg in ("--es", "--ez", "--ei", "-e") for arg in args) else []
    return " ".join(["Intent {", *(f"{name}={word}" for name, word in words if word), *extras, "}"])


def _start(call: CommandCall, args: list[str]) -> int:
    apps, options = answering(args)
    wait = "-W" in options
    if "-S" in options and apps:
        call.display.stop(apps[0].id)
    if not any(arg.startswith("-") for arg in args):
        options["-n" if "/" in (args or [""])[0] else "-p"] = (args or [""])[0]
    call.say(f"Starting: {_intent(options, args)}")
    if not apps or (len(apps) > 1 and not options.get("-p")):
        if "-n" in options:
            package, _, activity = options["-n"].partition("/")
            whole = package + activity if activity.startswith(".") else activity
            call.complain("Error type 3")
            raise CommandRefused(f"Error: Activity class {{{package}/{whole}}} does not exist.")
        raise CommandRefused(f"Error: Activity not started, unable to resolve {_intent(options, args)}")
    before = call.display.activity
    _open_app(call, apps[0])
    warm = before.startswith(f"{apps[0].package}/")
    if warm:
        call.complain(_NOT_STARTED)
    if wait:
        state = "UNKNOWN (0)" if warm else "COLD"
        call.say(f"Status: ok\nLaunchState: {state}\nActivity: {call.display.activity}\nTotalTime: 312\nWaitTime: 318")
        call.say("Complete")
    return 0


def _open_app(call: CommandCall, app: App) -> None:
    if app.id == LAUNCHER:
        call.display.perform(Action("navigate_home"))
    else:
        call.display.perform(Action("open_app", app=app.package))


def _broadcast(call: CommandCall, args: list[str]) -> int:
    """Broadcast an intent. On this phone only an ADB keyboard listens, if enabled and selected."""
    _, options = answering(args)
    call.say(f"Broadcasting: {_intent(options, args).replace(' }', ' flg=0x400000 }')}")
    if selected(call.services) == ADB_KEYBOARD:
        text = next((args[i + 2] for i, arg in enumerate(args[:-2]) if arg == "--es"), "")
        match options.get("-a"):
            case "ADB_INPUT_TEXT":
                call.display.type(text)
            case "ADB_INPUT_B64":
                call.display.type(_decode_base64(text))
            case "ADB_CLEAR_TEXT":
                call.display.choose()
                call.display.erase()
    call.say("Broadcast completed: result=0")
    return 0


def _decode_base64(text: str) -> str:
    """Decode base64. Empty if it is invalid, as the keyboard treats it."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""


def monkey(call: CommandCall) -> int:
    """Start an app: `monkey -p PACKAGE [-c CATEGORY] 1` only."""
    args = list(call.args)
    for arg in args:
        call.complain(f"  bash arg: {arg}")
    package = args[args.index("-p") + 1] if "-p" in args[:-1] else ""
    app = by_package(package)
    if not args or not args[-1].isdigit():
        raise CommandRefused("** Error: Count not specified", 251)
    call.complain(f"args: [{', '.join(args)}]")
    if app is None or app.id == LAUNCHER:
        call.complain("** No activities found to run, monkey aborted.")
        return 252
    _open_app(call, app)
    call.say(f"Events injected: {args[-1]}")
    call.say("## Network stats: elapsed time=14ms (0ms mobile, 0ms wifi, 14ms not connected)")
    return 0


def pidof(call: CommandCall) -> int:
    """Print the process ids of apps that were opened."""
    running = [app.package for app in APPS.values() if app.id in _running_apps(call)]
    pids = [str(pid(name)) for name in call.args if name in running]
    if pids:
        call.say(" ".join(pids))
    return int(not pids)


def _running_apps(call: CommandCall) -> list[str]:
    nav = call.display.phone.current_screen().state["nav"]
    return [LAUNCHER, nav["app"], *nav["recents"]]


def ps(call: CommandCall) -> int:
    call.say("USER           PID  PPID        VSZ    RSS WCHAN            ADDR S NAME")
    call.say("root             1     0   10932040   9012 0                   0 S init")
    for app in APPS.values():
        if app.id in _running_apps(call):
            call.say(f"u0_a{pid(app.package) % 100:<10} {pid(app.package)}   712 15872344 140220 0  0 S {app.package}")
    return 0


COMMANDS: dict[str, Command] = {"am": am, "monkey": monkey, "pidof": pidof, "ps": ps}
