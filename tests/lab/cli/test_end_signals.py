"""Signals end what waits, whenever and on whichever thread they come."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from lab.cli.serve.end_signals import ENDING, end_signals


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_that_another_thread_takes_ends_it(number: signal.Signals) -> None:
    """The kernel's wait of the main thread is not interrupted then, as by a signal right before that wait."""
    waits = threading.Event()

    def kill() -> None:
        waits.wait()
        signal.pthread_kill(threading.get_ident(), number)

    for _ in range(20):
        waits.clear()
        thread = threading.Thread(target=kill)
        thread.start()
        with end_signals() as end:
            waits.set()
            end.wait(seconds=60)
        thread.join()
        assert end.asked, "it was woken by the signal, not by the clock"


def test_a_signal_that_only_wakes_does_not_end_it() -> None:
    with end_signals(waking=(signal.SIGWINCH,)) as end:
        os.kill(os.getpid(), signal.SIGWINCH)
        assert end.wait() == []
        assert not end.asked


def test_what_stood_before_stands_again() -> None:
    before = [signal.getsignal(number) for number in ENDING]
    with end_signals():
        assert [signal.getsignal(number) for number in ENDING] != before
    assert [signal.getsignal(number) for number in ENDING] == before
    assert signal.set_wakeup_fd(-1) == -1


def test_what_survives_a_closed_terminal_goes_on() -> None:
    program = (
        "import os, signal\n"
        "from lab.cli.serve.end_signals import end_signals\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "with end_signals() as end:\n"
        "    os.kill(os.getpid(), signal.SIGHUP)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    end.wait_for_end()\n"
        "    print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
