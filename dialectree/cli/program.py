"""The program ``dialectree``: its commands, and how each of them ends."""

from __future__ import annotations

import errno
import gc
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Annotated, Any

import typer
from pydantic import ValidationError

import dialectree
from dialectree.cli import debate, evaluate, export, flags
from dialectree.cli.audit import audit
from dialectree.cli.contest import OneText, contest
from dialectree.cli.demo import demo
from dialectree.cli.doctor import doctor
from dialectree.cli.gate import gate
from dialectree.cli.help_groups import (
    DEBATE,
    EVALUATE,
    LOOK,
    SET_UP,
    GroupedCommand,
    GroupedCommands,
)
from dialectree.cli.mcp import mcp
from dialectree.cli.runs import resume, show
from dialectree.cli.server_file import server_file
from dialectree.cli.view import view
from dialectree.errors import NO_ROOM, DialectreeError, DiskFull
from dialectree.system import streams

usage = import_module(typer.BadParameter.__module__)
"""The errors of the command line itself: those of click, or of typer's own copy of it."""

app = typer.Typer(
    name="dialectree",
    cls=GroupedCommands,
    epilog=debate.examples(),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
debate.add_commands(app)
app.command("gate", cls=GroupedCommand, no_args_is_help=True, rich_help_panel=DEBATE)(gate)
app.command("resume", cls=GroupedCommand, rich_help_panel=DEBATE)(resume)
app.command("contest", cls=OneText, no_args_is_help=True, rich_help_panel=DEBATE)(contest)
app.command("demo", rich_help_panel=LOOK)(demo)
app.command("show", rich_help_panel=LOOK)(show)
app.command("view", cls=GroupedCommand, rich_help_panel=LOOK)(view)
app.add_typer(export.app, name="export", rich_help_panel=LOOK)
app.command("protocols", rich_help_panel=LOOK)(debate.protocols)
evaluate.app.command("audit", cls=GroupedCommand, no_args_is_help=True)(audit)
app.add_typer(evaluate.app, name="eval", rich_help_panel=EVALUATE)
app.command("doctor", cls=GroupedCommand, rich_help_panel=SET_UP)(doctor)
app.command("mcp", cls=GroupedCommand, rich_help_panel=SET_UP)(mcp)
app.command("server-file", rich_help_panel=SET_UP)(server_file)


@app.command("version", rich_help_panel=SET_UP)
def version() -> None:
    """Print the version."""
    print(dialectree.__version__)


def _version(asked: bool) -> None:
    if asked:
        version()
        raise typer.Exit


@app.callback()
def program(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Structured debate between language models."""


def _end_in_order_on_sigterm() -> None:
    """Let SIGTERM, which ends services and containers, end a run as Ctrl-C does.

    A script's job in the background ignores Ctrl-C: there SIGINT is blocked, so that its handler
    runs for SIGTERM alone.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt(number: int, frame: FrameType | None) -> None:
        answer = signal.getsignal(signal.SIGINT)
        if callable(answer):
            answer(signal.SIGINT, frame)

    signal.signal(signal.SIGTERM, interrupt)


READER_GONE = 141
"""The status that a shell reports of a program that SIGPIPE ended."""


@contextmanager
def _printed() -> Iterator[None]:
    """Write everything out at the end; raise DiskFull where a file takes no more of it.

    A reader that has gone (``| head``) is no fault: the program ends without a message.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        streams.give_up(1)
        if error.errno in NO_ROOM:
            raise DiskFull("no room left to write what was to be printed") from error
        if error.errno == errno.EPIPE:
            sys.exit(READER_GONE)
        raise
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # typer and rich end with 1 there
            streams.give_up(1)
            sys.exit(READER_GONE)
        raise


def _message(error: Any) -> str:
    """Return in one line what is wrong with a call, and what to do about it."""
    message: str = error.format_message()
    if isinstance(error.__cause__, ValidationError):
        fault = error.__cause__.errors(include_url=False, include_context=False)[0]
        value = repr(fault["input"])
        what = fault["msg"].removeprefix("Value error, ").removeprefix(f"{value} is not ")
        flag = max(error.param.opts, key=len)
        return f"{flag}: {what[:1].lower()}{what[1:].rstrip('.')}, not {value:.80}"
    line = " ".join(f"{message[:1].lower()}{message[1:]}".split())
    return f"{line}{_advice(error, line)}"


def _advice(error: Any, line: str) -> str:
    """Return what may have been meant by a call that cannot be read; empty if that is not known."""
    context = getattr(error, "ctx", None)
    if context is None:
        return ""
    if "unexpected extra argument" in line:
        texts = [one for one in context.command.params if one.param_type_name == "argument"]
        return ": put the text in quotes" if len(texts) == 1 else ""
    if isinstance(error, usage.NoSuchOption):
        commands = context.find_root().command.commands
        having = [name for name, one in commands.items() if error.option_name in _flags(one)]
        return f"; an option of {', '.join(having)}" if having else ""
    if "no such command" in line and context.info_name == "run":
        return f" Installed are {', '.join(context.command.commands)}."
    return ""


def _flags(command: Any) -> set[str]:
    """Return the flags of a command."""
    return {flag for parameter in command.params for flag in parameter.opts}


def run() -> None:
    """Run the command line: one line and the right exit status for every known error."""
    streams.stand_in()
    streams.replace_what_cannot_be_printed()
    _end_in_order_on_sigterm()
    gc.disable()  # imports make garbage of nothing; collecting among them costs a third of a second
    try:
        with _printed():
            status = app(standalone_mode=False)
        sys.exit(status)
    except usage.NoArgsIsHelpError as help:
        streams.say(help.format_message())
        sys.exit(help.exit_code)
    except usage.UsageError as error:
        streams.notice(_message(error))
        sys.exit(error.exit_code)
    except DialectreeError as error:
        flags.notice(str(error))
        sys.exit(error.status)
    except Exception:  # a fault of ours: the only case that prints a traceback
        streams.say(traceback.format_exc().rstrip("\n"))
        sys.exit(1)
