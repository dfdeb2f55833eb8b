"""``dialectree delete`` and ``dialectree cache``: delete runs, cached documents and replies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialectree.interfaces.cli import flags

if TYPE_CHECKING:
    from dialectree.interfaces.cli.stored_data import Deletion

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be deleted, and stop.")]


def delete(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...", help="Runs: ids or the beginnings of them, paths of folders, or last."
        ),
    ],
    dry_run: DryRun = False,
    yes: Yes = False,
    runs: flags.Runs = Path("runs"),
) -> None:
    """Delete runs, after saying which and how large they are.

    Texts of their sources may also lie in the cache: see ``dialectree cache clear --documents``.
    """
    from dialectree.interfaces.cli import streams
    from dialectree.interfaces.cli.stored_data import describe_run, has_sources
    from dialectree.service.debates import Debates

    folders = {folder.path.resolve(): folder for folder in map(Debates(runs).find, names)}
    read_documents = any(has_sources(folder) for folder in folders.values())
    deletions = [describe_run(folder) for folder in folders.values()]
    if _delete(deletions, "run", dry_run=dry_run, yes=yes) and read_documents:
        streams.notice(
            f"texts of their documents may lie in the cache, too: {streams.program()} cache clear --documents"
        )


cache = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@cache.callback()
def about_cache() -> None:
    """Clear the folder in which read documents and paid replies are kept."""


@cache.command()
def clear(
    documents: Annotated[
        bool, typer.Option("--documents", help="Only documents: read, indexed and retrieved texts.")
    ] = False,
    replies: Annotated[
        bool, typer.Option("--replies", help="Only replies of models, which were paid for.")
    ] = False,
    older: Annotated[
        float | None,
        typer.Option(
            help="Only documents unused for DAYS, and replies older than DAYS.", min=0, metavar="DAYS"
        ),
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Delete cached documents and replies, after saying how much that is.

    Runs stay, with their own texts. A reply that is asked for again is paid again.
    """
    from dialectree.interfaces.cli.stored_data import describe_cache

    both = documents == replies
    deletions = describe_cache(documents=documents or both, replies=replies or both, older_than_days=older)
    _delete([*deletions], "part of the cache", dry_run=dry_run, yes=yes)


def _delete(deletions: Sequence[Deletion], noun: str, *, dry_run: bool, yes: bool) -> bool:
    """Print the deletions and carry them out after consent; return whether anything was deleted."""
    from dialectree.errors import InputError
    from dialectree.interfaces.cli import consent
    from dialectree.interfaces.cli.stored_data import total
    from dialectree.text import clean

    if not deletions:
        print("nothing to delete")
        return False
    for deletion in deletions:
        print(f"{clean(deletion.description)}, {total([deletion])}")
    if dry_run:
        return False
    if not yes:
        if not consent.terminal():
            raise InputError("nothing was deleted: give --yes, because a question needs a terminal")
        number = len(deletions)
        target = f"{number:,} {noun}s" if number > 1 and noun == "run" else f"this {noun}"
        consent.ask(f"Delete {target} ({total(deletions)})?", "nothing was deleted")
    for deletion in deletions:
        deletion.delete()
    print(f"deleted {total(deletions)}")
    return True
