"""Take a picture of a command in a terminal: tmux runs it, rich colours it, Chromium draws it.

From the root of the repository, 40 lines of a demonstration at 80 columns::

    .venv/bin/python docs/images/terminal_picture.py docs/images/terminal.png 80 40 \
        "dialectree demo --fast"

The picture shows the first lines; the rest of a longer output is cut off.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

COLUMN, LINE, MARGIN = 10, 21, 16
"""Pixels; a column is as wide as a character of DejaVu Sans Mono at 16.6 px."""
PAGE = (
    "<meta charset=utf-8><style>body {{margin: 16px; background: {background}; "
    "color: {foreground}}}"
    "pre {{margin: 0; font: 16.6px/21px 'DejaVu Sans Mono'}} {stylesheet}</style><pre>{code}</pre>"
)


def screen(command: str, columns: int, lines: int) -> str:
    """Return the first ``lines`` that ``command`` prints in a terminal, with their escapes."""
    tmux = ["tmux", "-L", f"picture-{os.getpid()}", "-f", os.devnull]
    prompt = f"printf '$ %s\\n' {command!r}; {command}; tmux -L {tmux[2]} wait-for -S done; sleep 60"
    size = ["-x", str(columns), "-y", str(lines)]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PATH": path, "TERM": "xterm-256color"}
        new = [*tmux, "new-session", "-d", *size, "-c", folder, prompt]
        subprocess.run(new, check=True, env=environment)
        subprocess.run([*tmux, "wait-for", "done"], check=True)
        time.sleep(0.5)  # the terminal draws the output
        capture = [*tmux, "capture-pane", "-e", "-p", "-S", "-"]
        shown = subprocess.run(capture, check=True, capture_output=True, text=True).stdout
        subprocess.run([*tmux, "kill-server"], check=True)
    return "\n".join(shown.splitlines()[:lines])


def picture(file: Path, columns: int, lines: int, command: str) -> None:
    """Write the picture of ``command`` to ``file``."""
    console = Console(record=True, file=StringIO(), width=columns)
    console.print(Text.from_ansi(screen(command, columns, lines)), highlight=False)
    size = f"{columns * COLUMN + 2 * MARGIN},{lines * LINE + 2 * MARGIN}"
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "terminal.html"
        page.write_text(console.export_html(theme=MONOKAI, code_format=PAGE), encoding="utf-8")
        chromium = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars"]
        shot = [f"--window-size={size}", f"--screenshot={file.absolute()}", page.as_uri()]
        subprocess.run([*chromium, *shot], check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    picture(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
