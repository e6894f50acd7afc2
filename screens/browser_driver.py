"""How the app is painted for a browser: Textual's web driver, which also ends where nobody reads it any more."""

from __future__ import annotations

from textual import events, messages
from textual.drivers.web_driver import WebDriver


class BrowserDriver(WebDriver):
    """Paints into a pipe; what it is asked for comes from one. See `lab.serve.app_process`."""

    def start_application_mode(self) -> None:
        """Begins with the keys in the app: a page sends what it hears of focus, which Textual's driver waits for.

        What it sent while the app was starting would be undone by the blur with which that driver begins.
        """
        super().start_application_mode()
        self._app.call_later(self._app.post_message, events.AppFocus())

    def run_input_thread(self) -> None:
        """Reads what is typed; where the pipe ends, the server is gone, and the app leaves as by its key."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._app.post_message(messages.ExitApp())

    def show_pictures(self, address: str) -> None:
        """Tells the server where this app's page of pictures is."""
        self.write_meta({"type": "pictures", "address": address})

    def tell_pictures(self, visible: bool) -> None:
        """Tells the server that there is something to look at on that page now, or nothing any more."""
        self.write_meta({"type": "pictures", "seen": visible})
