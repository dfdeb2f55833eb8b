"""``dialectree export``: export runs for other programs, or as a memo for a person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dialectree.interfaces.cli import flags
from dialectree.interfaces.cli.runs import Run
from dialectree.interfaces.cli.wrong_calls import SuggestingGroup

if TYPE_CHECKING:
    from dialectree.records.folder import RunFolder

app = typer.Typer(cls=SuggestingGroup, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.callback()
def export() -> None:
    """Export runs for other programs, or as a memo for a person."""


@app.command()
def preferences(
    names: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Runs as show takes them, or evaluations' folders.")
    ],
    output: Annotated[Path | None, typer.Option(help="The file; without it, standard output.")] = None,
    runs: flags.Runs = Path("runs"),
) -> None:
    """Print pairs of a better and a worse reply, a line of JSON each, for training.

    A contested run gives a model's reply and the text by which a person replaced it. An evaluation
    gives replies to the same messages in runs with a right and with a wrong answer.
    """
    from dialectree.contests.preferences import preferences
    from dialectree.interfaces.cli import streams
    from dialectree.service.debates import Debates

    folders: list[RunFolder] = []
    rewards: dict[str, float] = {}
    for name in names:
        if (Path(name) / "evaluation.json").is_file():
            folders += _collect_scored_runs(Path(name), rewards)
        else:
            folders.append(Debates(runs).find(name))
    lines = [json.dumps(pair, ensure_ascii=False) + "\n" for pair in preferences(folders, rewards)]
    if output is None:
        streams.print_file("".join(lines).removesuffix("\n"))
    else:
        _write(output, "".join(lines).encode())
    streams.notice("1 pair" if len(lines) == 1 else f"{len(lines)} pairs")


@app.command()
def memo(
    run: Run,
    format: Annotated[
        Literal["md", "docx", "html"] | None,
        typer.Option(help="The format; by default that of the file's name, or else md."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "--out", help="The file; without it, standard output, or a new docx here."),
    ] = None,
    runs: flags.Runs = Path("runs"),
) -> None:
    """Write one or two pages on a run for a person who was not there.

    The memo has question, answer, reason, the strongest arguments on both sides, the cited sentences,
    what the confidence means, and how the answer was made.
    """
    from dialectree.interfaces.cli import streams
    from dialectree.report.memo_files import write_memo
    from dialectree.service.debates import Debates

    suffix = output.suffix.lower() if output is not None else ""
    chosen = format or ("docx" if suffix == ".docx" else "html" if suffix in (".html", ".htm") else "md")
    file = write_memo(Debates(runs).find(run).record(), chosen)
    if output is None and chosen != "docx":
        streams.print_file(file.content.decode().removesuffix("\n"))
        return
    path = output or Path(file.name)
    _write(path, file.content)
    streams.notice(f"the memo is {path}")


def _write(path: Path, content: bytes) -> None:
    """Write a file; raise InputError if that is impossible."""
    from dialectree.errors import InputError

    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def _collect_scored_runs(path: Path, rewards: dict[str, float]) -> list[RunFolder]:
    """Return the runs of an evaluation, and put the scores of their answers into ``rewards``."""
    from dialectree.evals.results_file import Folder
    from dialectree.records.folder import RunFolder

    evaluation = Folder(path)
    run_folders: dict[str, RunFolder] = {}
    for result in evaluation.results():
        score = result.scores[0].score if result.scores else None
        if result.run is not None and score is not None:
            rewards[result.run] = score
            run_folders[result.run] = RunFolder(evaluation.runs / result.run)
    return list(run_folders.values())
