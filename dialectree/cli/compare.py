"""``dialectree compare``: two papers debate a topic, and a comparison comes of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dialectree.cli import flags
from dialectree.errors import InputError

if TYPE_CHECKING:
    from dialectree.nodes.tree_of_debate.papers import PaperGiven

_FORMS = "PDF, .txt, .md, .tex, .json, or an arXiv id."


_TITLE = typer.Option(help="Title of the paper, where it does not show it.")
_ABSTRACT = typer.Option(help="Abstract of the paper; without one its opening stands in its place.")
_KEY = typer.Option(help="BibTeX key of the paper.")


@flags.settings(flags.MODELS, flags.DRAWS, flags.TOD, flags.LIMITS)
def compare(
    paper_a: Annotated[str, typer.Argument(help=_FORMS, metavar="PAPER")],
    paper_b: Annotated[str, typer.Argument(help=_FORMS, metavar="PAPER")],
    settings: dict[str, Any],
    topic: Annotated[str, typer.Option(help="What to compare them on.", metavar="TEXT")],
    method: Annotated[
        str,
        typer.Option(
            help="tod, an ablation: no_tree, no_self_deliberation; or a baseline: single_stage, "
            "two_stage."
        ),
    ] = "tod",
    title_a: Annotated[str | None, _TITLE] = None,
    title_b: Annotated[str | None, _TITLE] = None,
    abstract_a: Annotated[str | None, _ABSTRACT] = None,
    abstract_b: Annotated[str | None, _ABSTRACT] = None,
    key_a: Annotated[str | None, _KEY] = None,
    key_b: Annotated[str | None, _KEY] = None,
    runs: flags.Runs = Path("runs"),
    json: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Let two papers debate a topic, part by part; print what they share and what sets them apart.

    The first paper is a, the second b.
    """
    from dialectree.cli import progress
    from dialectree.conduct import start
    from dialectree.graphs import method as named
    from dialectree.own_settings import configured

    chosen = named(method, "tod")
    context = configured(chosen, settings, progress.notice)
    papers = [
        _read("a", paper_a, title_a, abstract_a, key_a),
        _read("b", paper_b, title_b, abstract_b, key_b),
    ]
    run = start(chosen, topic, context, runs, papers=papers)  # type: ignore[arg-type]
    progress.follow(run, json=json, quiet=quiet)


def _read(
    letter: str, source: str, title: str | None, abstract: str | None, key: str | None
) -> PaperGiven:
    from dialectree.nodes.tree_of_debate.papers import given
    from dialectree.retrieval.papers import PartMissing, read

    try:
        paper = read(source, title=title, abstract=abstract)
    except PartMissing as error:
        missing = error.missing
        raise InputError(
            f"{error.name}: no {missing} found in it; give it with --{missing}-{letter}"
        ) from None
    return given(paper, key)
