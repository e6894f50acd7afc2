"""Textual's web driver, which also ends the app when nobody reads its output any more."""

from __future__ import annotations

from textual import events, messages
from textual.drivers.web_driver import WebDriver


class BrowserDriver(WebDriver):
    """Paints into a pipe and reads input from another. See `lab.serve.app_process`."""

    def start_application_mode(self) -> None:
        """Start with the app focused: Textual's driver waits for the page to report focus.

        That driver begins with a blur, which would undo a focus that the page sent while the app was starting.
        """
        super().start_application_mode()
        self._app.call_later(self._app.post_message, events.AppFocus())

    def run_input_thread(self) -> None:
        """Read input. If the pipe ends, the server is gone, and the app quits as by its key."""
        super().run_input_thread()
        # `exit_event` is set when the app itself ends the thread.
        if not self.exit_event.is_set():
            self._app.post_message(messages.ExitApp())

    def show_pictures(self, address: str) -> None:
        """Send the server the address of this app's page of pictures."""
        self.write_meta({"type": "pictures", "address": address})

    def tell_pictures(self, visible: bool) -> None:
        """Notify the server that the page has something to show, or nothing any more."""
        self.write_meta({"type": "pictures", "seen": visible})
