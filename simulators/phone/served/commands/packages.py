"""`pm`, which is `cmd package`: the installed apps, and the components that start them.

Source: AOSP, PackageManagerShellCommand.java.
"""

from __future__ import annotations

from simulators.phone.app import App, State
from simulators.phone.installed import APPS
from simulators.phone.kit.boxes import Window
from simulators.phone.phone import Phone
from simulators.phone.served.commands.call import Command, CommandCall, CommandRefused, ServiceException
from simulators.phone.served.commands.installed import LAUNCHER, by_component, by_package, component, packages, path

_FOUND = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false"
_WORTH = frozenset(("-a", "-c", "-d", "-t", "-n", "-p", "--user", "--query-flags"))
_MAIN, _HOME, _ICON = "android.intent.action.MAIN", "android.intent.category.HOME", "android.intent.category.LAUNCHER"


def pm(call: CommandCall) -> int:
    kind, *args = call.args or ["help"]
    handler = _KINDS.get(kind)
    if handler is None:
        raise CommandRefused(f"Unknown command: {kind}", 255)
    return handler(call, args)


def _list(call: CommandCall, args: list[str]) -> int:
    """`list packages [-3] [-s] [-f] [-d] [FILTER]`, sorted."""
    if args[:1] not in (["packages"], ["package"]):
        what = args[0] if args else ""
        if what in ("features", "libraries", "users", "instrumentation", "permissions"):
            return 0
        raise CommandRefused(f"Error: unknown list type '{what}'", 255)
    flags = {arg for arg in args[1:] if arg.startswith("-")}
    names = [arg for i, arg in enumerate(args[1:], 1) if not arg.startswith("-") and args[i - 1] != "--user"]
    for package, own in sorted(packages(call.services).items()):
        if ("-3" in flags and own) or ("-s" in flags and not own) or "-d" in flags:
            continue
        if names and names[0] not in package:
            continue
        call.say(f"package:{path(package)}={package}" if "-f" in flags else f"package:{package}")
    return 0


def _path(call: CommandCall, args: list[str]) -> int:
    if not args or args[-1] not in packages(call.services):
        return 1
    call.say(f"package:{path(args[-1])}")
    return 0


def _options(args: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return an intent's options and its remaining words: a package, a component, an address."""
    options, rest, remaining = {}, [], list(args)
    while remaining:
        arg = remaining.pop(0)
        if arg in _WORTH:
            options[arg] = remaining.pop(0) if remaining else ""
        elif not arg.startswith("-"):
            rest.append(arg)
        else:
            options[arg] = ""
    return options, rest


def answering(args: list[str]) -> tuple[list[App], dict[str, str]]:
    """Return the apps that an intent could start, and its options."""
    options, rest = _options(args)
    if "-n" in options:
        app = by_component(options["-n"])
        return ([app] if app else []), options
    package = options.get("-p") or (rest[0] if rest else "")
    if options.get("-c") == _HOME:
        return [APPS[LAUNCHER]], options
    if options.get("-a", _MAIN) == "android.intent.action.VIEW" and options.get("-d", "").startswith("http"):
        return [APPS["browser"]], options
    if options.get("-a", _MAIN) == "android.settings.SETTINGS":
        return [APPS["settings"]], options
    if options.get("-a", _MAIN) != _MAIN:
        return [], options
    if package:
        app = by_package(package.partition("/")[0]) if "/" not in package else by_component(package)
        return ([app] if app else []), options
    return [app for app in APPS.values() if app.id != LAUNCHER], options


def _resolve(call: CommandCall, args: list[str]) -> int:
    answers, options = answering(args)
    if not answers:
        call.say("No activity found")
    elif len(answers) > 1:
        call.say(_FOUND.replace("108000", "0") + "\nandroid/com.android.internal.app.ResolverActivity")
    else:
        call.say(_describe_activity(answers[0], "--brief" in options, ""))
    return 0


def _query(call: CommandCall, args: list[str]) -> int:
    answers, options = answering(args)
    if "--components" in options:
        for app in answers:
            call.say(component(app))
        return 0
    call.say(f"{len(answers)} activities found:" if answers else "No activities found")
    for number, app in enumerate(answers):
        call.say(f"  Activity #{number}:\n{_describe_activity(app, '--brief' in options, '    ')}")
    return 0


def _describe_activity(app: App, brief: bool, indent: str) -> str:
    if brief:
        return f"{indent}{_FOUND}\n{indent}{component(app)}"
    name = component(app).replace("/", "")
    return (
        f"{indent}{_FOUND}\n{indent}ActivityInfo:\n{indent}  name={name}\n{indent}  packageName={app.package}\n"
        f"{indent}  enabled=true exported=true directBootAware=false"
    )


def _grant(call: CommandCall, args: list[str]) -> int:
    """`grant` and `revoke`: apps of this phone request no permissions, so nothing changes."""
    words = [arg for i, arg in enumerate(args) if arg != "--user" and args[i - 1 : i] != ["--user"]]
    if len(words) < 2:
        raise CommandRefused("Error: no permission specified", 255)
    if words[0] not in packages(call.services):
        kind = "java.lang.IllegalArgumentException"
        raise ServiceException(
            kind, f"Unknown package: {words[0]}", "com.android.server.pm.permission.PermissionManagerServiceImpl"
        )
    return 0


def _clear(call: CommandCall, args: list[str]) -> int:
    """Stop an app and reset its data to a new phone's."""
    app = by_package(args[-1]) if args else None
    if app is None:
        raise CommandRefused("Failed")
    fresh_state = Phone().snapshot()["apps"].get(app.id)

    def clears(state: State, screen_windows: list[Window]) -> bool:
        if fresh_state is not None:
            state["apps"][app.id] = fresh_state
        return True

    call.display.stop(app.id)
    call.display.phone.change(clears)
    call.say("Success")
    return 0


def _refuse(call: CommandCall, args: list[str]) -> int:
    """Refuse to install or remove an app."""
    raise CommandRefused("Failure [INSTALL_FAILED_USER_RESTRICTED: this phone keeps the apps it has]")


_KINDS = {
    "list": _list, "path": _path, "resolve-activity": _resolve, "query-activities": _query, "install": _refuse,
    "uninstall": _refuse, "clear": _clear, "grant": _grant, "revoke": _grant, "disable-user": _refuse,
}  # fmt: skip
COMMANDS: dict[str, Command] = {"pm": pm}
