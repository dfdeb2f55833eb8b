"""The program ``dialectree``: its commands, and how each of them ends."""

from __future__ import annotations

import errno
import gc
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Annotated

import typer

import dialectree
from dialectree.errors import NO_ROOM, DialectreeError, DiskFull
from dialectree.interfaces.cli import streams
from dialectree.interfaces.cli.help_groups import DEBATE, EVALUATE, LOOK, SET_UP, GroupedCommand
from dialectree.interfaces.cli.lazy_commands import LazyCommand, LazyGroup
from dialectree.interfaces.cli.repeated_flags import OneText
from dialectree.interfaces.cli.wrong_calls import describe_usage_error, usage

COMMANDS: Mapping[str, LazyCommand] = {
    "gate": LazyCommand(
        "dialectree.interfaces.cli.gate:gate",
        "Split a text into claims, verify each, and say which are not probable enough.",
        DEBATE,
        cls=GroupedCommand,
        no_args_is_help=True,
    ),
    "resume": LazyCommand(
        "dialectree.interfaces.cli.runs:resume",
        "Go on with a run that was broken off, or whose calls failed.",
        DEBATE,
        cls=GroupedCommand,
    ),
    "contest": LazyCommand(
        "dialectree.interfaces.cli.contest:contest",
        "Change something in a run and do again only what depends on it, as a new run.",
        DEBATE,
        cls=OneText,
        no_args_is_help=True,
    ),
    "run": LazyCommand(
        "dialectree.interfaces.cli.debate:run_app",
        "Debate by any installed protocol: dialectree run NAME.",
        DEBATE,
    ),
    "demo": LazyCommand(
        "dialectree.interfaces.cli.demo:demo", "Play a recorded debate, without a model.", LOOK
    ),
    "show": LazyCommand(
        "dialectree.interfaces.cli.runs:show",
        "Show a finished or broken-off run: its tree, its verdict, what it cost.",
        LOOK,
    ),
    "view": LazyCommand(
        "dialectree.interfaces.cli.view:view",
        "Start, follow, contest and compare debates in the browser; look into evaluations.",
        LOOK,
        cls=GroupedCommand,
    ),
    "sources": LazyCommand(
        "dialectree.interfaces.cli.sources:sources",
        "Show the text read from documents: their blocks, what is left out, and why.",
        LOOK,
        cls=GroupedCommand,
        no_args_is_help=True,
    ),
    "delete": LazyCommand(
        "dialectree.interfaces.cli.deleting:delete",
        "Delete runs, after saying which and how large they are.",
        LOOK,
        no_args_is_help=True,
    ),
    "cache": LazyCommand(
        "dialectree.interfaces.cli.deleting:cache",
        "Clear the folder in which read documents and paid replies are kept.",
        SET_UP,
    ),
    "protocols": LazyCommand(
        "dialectree.interfaces.cli.debate:protocols",
        "List the protocols that are installed, and those that cannot be used.",
        LOOK,
    ),
    "export": LazyCommand(
        "dialectree.interfaces.cli.export:app",
        "Export runs for other programs, or as a memo for a person.",
        LOOK,
    ),
    "eval": LazyCommand(
        "dialectree.interfaces.cli.evaluation_commands:app",
        "Evaluate methods over a data set; then audit, route and calibrate, step by step.",
        EVALUATE,
    ),
    "model": LazyCommand(
        "dialectree.interfaces.cli.models:app",
        "Fetch a model for this machine by its name, list those that are known, remove one.",
        SET_UP,
    ),
    "doctor": LazyCommand(
        "dialectree.interfaces.cli.doctor:doctor",
        "Say what is installed, which model would be used and what its endpoint can do.",
        SET_UP,
        cls=GroupedCommand,
    ),
    "mcp": LazyCommand(
        "dialectree.interfaces.cli.mcp:mcp",
        "Serve the installed protocols to a client that speaks MCP: an editor, an agent, a chat.",
        SET_UP,
        cls=GroupedCommand,
    ),
    "server-file": LazyCommand(
        "dialectree.interfaces.cli.server_file:server_file",
        "Print a langgraph.json with a graph and a chat for each installed protocol.",
        SET_UP,
    ),
    "version": LazyCommand("dialectree.interfaces.cli.program:version", "Print the version.", SET_UP),
}
"""The commands by name, except those of protocols."""


class Program(LazyGroup):
    """``dialectree``: a command for each protocol that has a verb, and the commands in ``COMMANDS``."""

    table = COMMANDS

    def read_declarations(self) -> dict[str, LazyCommand]:
        """Return the commands of the protocols."""
        from dialectree.interfaces.cli import debate

        return debate.verbs()

    def examples(self) -> str:
        """Return two example calls, each of a different protocol."""
        from dialectree.interfaces.cli import debate

        return debate.examples()


app = typer.Typer(
    name="dialectree",
    cls=Program,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)


def version() -> None:
    """Print the version."""
    print(dialectree.__version__)


def _version(version_flag: bool) -> None:
    if version_flag:
        version()
        raise typer.Exit


@app.callback()
def program(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Structured debate between language models."""


def _end_in_order_on_sigterm() -> None:
    """Let SIGTERM, which ends services and containers, end a run as Ctrl-C does.

    A script's job in the background ignores Ctrl-C. In such a job SIGINT is blocked, so that the
    handler of SIGINT runs only for SIGTERM.
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
"""The status that a shell reports for a program that SIGPIPE ended."""


@contextmanager
def _flush_at_end() -> Iterator[None]:
    """Write everything out at the end; raise DiskFull if the disk is full.

    A reader that has gone (``| head``) is not an error: the program ends without a message.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        streams.give_up(1)
        if error.errno in NO_ROOM:
            raise DiskFull("no room left to write the output: free some and repeat") from error
        if error.errno == errno.EPIPE:
            sys.exit(READER_GONE)
        raise
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # typer and rich end with 1 there
            streams.give_up(1)
            sys.exit(READER_GONE)
        raise


def run() -> None:
    """Run the command line. A known error prints one line and ends with its own exit status."""
    streams.stand_in()
    streams.replace_what_cannot_be_printed()
    _end_in_order_on_sigterm()
    gc.disable()  # imports leave no garbage; collecting during them costs a third of a second
    try:
        with _flush_at_end():
            status = app(standalone_mode=False)
        sys.exit(status)
    except usage.NoArgsIsHelpError as help:
        streams.say(help.format_message())
        sys.exit(help.exit_code)
    except usage.UsageError as error:
        streams.notice(describe_usage_error(error))
        sys.exit(error.exit_code)
    except DialectreeError as error:
        from dialectree.interfaces.cli import flags

        flags.notice("; ".join([str(error), *getattr(error, "__notes__", ())]))
        sys.exit(error.status)
    except Exception:  # a bug of ours: the only case that prints a traceback
        streams.say(traceback.format_exc().rstrip("\n"))
        sys.exit(1)
