"""State to windows: everything on the screen, lowest first. A pure function of the state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lab.core.run.ui_tree import Bounds
from simulators.phone import keyboard, nav, system
from simulators.phone.app import App, AppContext, State
from simulators.phone.kit import controls as controls
from simulators.phone.kit.boxes import Box, Drawing, Round, Window
from simulators.phone.kit.draw import Artist
from simulators.phone.kit.layout import Env, measure, place
from simulators.phone.kit.theme import HEIGHT, NAV_BAR, STATUS_BAR, WIDTH, palette
from simulators.phone.kit.views import Column, Dialog, ListView, Page, Row, Screen, Sheet, Space, Text, View

if TYPE_CHECKING:
    from PIL.Image import Image

_SYSTEM_HUE = 258
_SCALES = {"small": 0.88, "default": 1.0, "large": 1.14, "largest": 1.28}


def env(state: State, hue: int, package: str, scope: str, owner: str = "") -> Env:
    """Return the surroundings of a layout."""
    settings = state["apps"]["settings"]
    dark = bool(settings["dark_theme"])
    here = AppContext(state, owner) if owner else None

    def read(path: Any) -> str:
        value = here.read(path) if here else None
        return "" if value is None else str(value)

    return Env(
        palette(dark, hue), dark, _SCALES.get(settings["font_size"], 1.0), package, read, state["scroll"], scope,
        state["focus"],
    )  # fmt: skip


def windows(state: State, apps: Mapping[str, App]) -> list[Window]:
    """Return everything on the screen: the app, keyboard, shade or heads-up, bars, toast."""
    ground = env(state, _SYSTEM_HUE, system.PACKAGE, "system")
    bottom = keyboard.BOUNDS.top if state["focus"] is not None else NAV_BAR.top
    out = [_overview(state, apps, ground)] if state["nav"]["overview"] else app_windows(state, apps, bottom)
    if state["focus"] is not None:
        out.append(_keyboard(state, out, ground))
    coming = system.heads_up(state, apps, ground)
    if state["shade"]:
        out.append(system.shade(state, apps, ground))
    elif coming is not None:
        out.append(coming)
    rgb = ground.rgb("text")
    out += [system.status_bar(state, rgb, ground.rgb("error")), system.nav_bar(rgb)]
    if state["toast"]:
        out.append(system.toast(str(state["toast"]), bottom, ground))
    return out


def shade_window(state: State, apps: Mapping[str, App]) -> Window:
    """Return the notification shade of a state, open or not."""
    return system.shade(state, apps, env(state, _SYSTEM_HUE, system.PACKAGE, "system"))


def _overview(state: State, apps: Mapping[str, App], ground: Env) -> Window:
    return window(system.overview(state, apps), "system", system.PACKAGE, NAV_BAR.top, ground)


def app_windows(state: State, apps: Mapping[str, App], bottom: int, name: str = "") -> list[Window]:
    """Return the page in front of an app and the sheets and dialogs over it. Only the topmost is in the tree."""
    app = apps[name or state["nav"]["app"]]
    screens: list[tuple[Screen, int]] = []
    for depth in range(len(nav.stack(state, app.id)) - 1, -1, -1):
        entry = nav.stack(state, app.id)[depth]
        screens.insert(0, (app.screen(entry["screen"], AppContext(state, app.id, entry["args"])), depth))
        # Sheets and dialogs cover only a part: everything down to the page below is drawn.
        if isinstance(screens[0][0], Page):
            break
    out = []
    for screen, depth in screens:
        around = env(state, app.hue, app.package, nav.scope(state, app.id, depth), app.id)
        # Only the topmost screen can have the cursor.
        if (screen, depth) != screens[-1]:
            around.focus = None
        out.append(window(screen, app.id, app.package, bottom, around))
        out[-1].listed = depth == screens[-1][1]
    return out


def _keyboard(state: State, below: list[Window], ground: Env) -> Window:
    field = focused(state, below)
    action = field.field.action if field and field.field else "Done"
    return Window(keyboard.keyboard(state, action, ground), "keyboard", keyboard.PACKAGE)


def focused(state: State, screen_windows: list[Window]) -> Box | None:
    """Return the box of the field with the cursor, from the topmost window that has it.

    It may be scrolled out of view.
    """
    chain = focus_chain(state, screen_windows)
    return chain[-1] if chain else None


def focus_chain(state: State, screen_windows: list[Window]) -> list[Box]:
    """Return the boxes around the field with the cursor, from its window's root to the field."""
    for upper_window in reversed(screen_windows):
        stack = [[upper_window.root]]
        while stack:
            chain = stack.pop()
            field = chain[-1].field
            if field is not None and field.id == state["focus"]:
                return chain
            stack.extend([*chain, child] for child in chain[-1].children)
    return []


def activity(state: State, apps: Mapping[str, App]) -> str:
    """Return Android's name of the screen in front, as `com.hitlab.food/.Menu`."""
    if state["nav"]["overview"]:
        return f"{system.PACKAGE}/.Overview"
    app = apps[state["nav"]["app"]]
    name = nav.stack(state, app.id)[-1]["screen"]
    return f"{app.package}/.{''.join(part.title() for part in name.split('_'))}"


def artists(state: State, apps: Mapping[str, App]) -> dict[str, Artist]:
    """Return the painter of each kind of picture. `thumb` is a small picture of an app's screen."""
    from simulators.phone.kit.draw import picture
    from simulators.phone.kit.theme import HEIGHT, WIDTH
    from simulators.phone.pictures.pictures import dish, wallpaper
    from simulators.phone.pictures.scenes import photo
    from simulators.phone.pictures.townmap import town

    painters: dict[str, Artist] = {"wallpaper": wallpaper, "dish": dish, "photo": photo, "town": town}

    def thumb(key: str, width: int, height: int, dark: bool) -> Image:
        from PIL import Image

        whole = picture(app_windows(state, apps, NAV_BAR.top, key), painters)
        small = whole.resize((width, width * HEIGHT // WIDTH), Image.Resampling.BOX)
        return small.crop((0, 0, width, height))

    return {**painters, "thumb": thumb}


_PLAIN: dict[str, object] = {"text": "", "desc": "", "id": "", "cls": "android.widget.FrameLayout"}


def window(screen: Screen, owner: str, package: str, bottom: int, env: Env) -> Window:
    """Lay out a screen between the status bar and `bottom` (the upper edge of the keyboard or navigation bar)."""
    if isinstance(screen, Page):
        return Window(_page(screen, bottom, env), owner, package)
    panel = _sheet(screen, bottom, env) if isinstance(screen, Sheet) else _dialog(screen, bottom, env)
    return Window(panel, owner, package, modal=True, outside=("back",), shade=110)


def _page(page: Page, bottom: int, env: Env) -> Box:
    area = Bounds(0, STATUS_BAR.bottom, WIDTH, bottom)
    whole = Bounds(0, 0, WIDTH, HEIGHT)
    root = Box(Bounds(0, 0, WIDTH, bottom), dict(_PLAIN))
    if page.wallpaper:
        root.paints.append(Drawing("wallpaper", page.wallpaper, whole, 0, env.dark))
    else:
        root.paints.append(Round(whole, 0, env.rgb(page.ground)))
    page.body.grow = 1
    body: list[View | None] = [page.bar, page.body, page.foot]
    root.children.append(place(Column(body), area, env))
    if page.fab is not None and env.focus is None:
        wide, high = measure(page.fab, WIDTH, env)
        low = bottom - (measure(page.foot, WIDTH, env)[1] if page.foot else 0) - 48
        root.children.append(place(page.fab, Bounds(WIDTH - 48 - wide, low - high, WIDTH - 48, low), env))
    return root


def _sheet(sheet: Sheet, bottom: int, env: Env) -> Box:
    top_parts: list[View | None] = [
        Column([_handle()], align="center", pad=(0, 28, 0, 20)),
        Text(sheet.title, "headline", pad=(48, 0)) if sheet.title else None,
    ]
    head = Column(top_parts)
    foot = sheet.foot or Space(24)
    inner = ListView([sheet.body], id="sheet")
    limit = bottom - STATUS_BAR.bottom - 120
    bars_height = measure(head, WIDTH, env)[1] + measure(foot, WIDTH, env)[1]
    high = min(limit, bars_height + measure(inner, WIDTH, env)[1])
    inner.grow = 1
    bounds = Bounds(0, bottom - high, WIDTH, bottom)
    root = Box(bounds, dict(_PLAIN))
    root.paints.append(Round(Bounds(0, bounds.top, WIDTH, HEIGHT + 100), 72, env.rgb("low")))
    root.children.append(place(Column([head, inner, foot]), bounds, env))
    return root


def _handle() -> View:
    return Space(10, width=96, height=10, fill="outline", radius=5)


def _dialog(dialog: Dialog, bottom: int, env: Env) -> Box:
    buttons = Row([Space(grow=1), *dialog.buttons], gap=8) if dialog.buttons else None
    content = Column([Text(dialog.title, "headline"), dialog.body, buttons], gap=20, pad=(60, 48))
    wide = 944
    limit = bottom - STATUS_BAR.bottom - 80
    high = min(limit, measure(content, wide, env)[1])
    left, top = (WIDTH - wide) // 2, STATUS_BAR.bottom + (bottom - STATUS_BAR.bottom - high) // 2
    root = Box(Bounds(left, top, left + wide, top + high), dict(_PLAIN))
    root.paints.append(Round(root.bounds, 80, env.rgb("container")))
    root.children.append(place(content, root.bounds, env))
    return root
