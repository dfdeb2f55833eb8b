"""The command line. Every command imports what it needs when it runs, so that help is instant."""

from __future__ import annotations

import gc
import signal
import sys
import traceback

import typer

from dialectree.cli import evaluate, models
from dialectree.cli.answer import answer, decide, verify
from dialectree.cli.compare import compare
from dialectree.cli.contest import OneText, contest
from dialectree.cli.doctor import doctor
from dialectree.cli.runs import resume, show
from dialectree.errors import DialectreeError

app = typer.Typer(
    name="dialectree",
    help="Structured debate between language models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("answer", no_args_is_help=True)(answer)
app.command("decide", no_args_is_help=True)(decide)
app.command("verify", no_args_is_help=True)(verify)
app.command("compare", no_args_is_help=True)(compare)
app.command("show")(show)
app.command("resume")(resume)
app.command("contest", cls=OneText, no_args_is_help=True)(contest)
app.command("doctor")(doctor)
app.add_typer(evaluate.app, name="eval")
app.add_typer(models.app, name="models", help="Better local models than the embedded one.")


@app.command("version")
def version() -> None:
    """Print the version."""
    from importlib.metadata import version as installed

    print(installed("dialectree"))


def main() -> None:
    """Run the command line: one line and the right exit status for every known error."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        # What ends a service or a container ends a run as Ctrl-C does: in order.
        signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    gc.disable()  # imports make garbage of nothing; collecting among them costs a third of a second
    try:
        app()
    except DialectreeError as error:
        print(f"dialectree: {error}", file=sys.stderr)
        sys.exit(error.status)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception:  # a fault of ours: the only case that prints a traceback
        traceback.print_exc()
        sys.exit(1)
