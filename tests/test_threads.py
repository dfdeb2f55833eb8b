"""Threads that an interrupt meets where they begin."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import os
import threading
from dialectree.system.threads import Threads

begin = threading.Thread.start

def interrupted(thread):
    begin(thread)
    raise KeyboardInterrupt  # where the second Ctrl-C came, while it waits for the thread

threads = Threads(8, "these")
threading.Thread.start = interrupted
try:
    threads.submit(os.write, 1, b"is done\\n")  # in one piece: both may come at once
except KeyboardInterrupt:
    os.write(1, b"interrupted\\n")
"""


def test_an_interrupt_while_a_thread_begins_lets_the_program_end() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=20
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == ["interrupted", "is done"]
