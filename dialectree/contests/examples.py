"""Find an example of each change that a run takes: the first possible place of each kind."""

from __future__ import annotations

from collections.abc import Iterator

from dialectree.contests.changes import Draft
from dialectree.contests.rulings import labels, rulings_of_person
from dialectree.contests.start import apply_change, require_finished
from dialectree.contests.wishes import CHANGES, Change, parse
from dialectree.errors import InputError
from dialectree.protocols.protocol import method
from dialectree.records.folder import SOURCES, RunFolder
from dialectree.running.recorded_settings import without_models

TEXT = "Another text."
"""The text of an example, which people replace by their own."""


def list_examples(folder: RunFolder) -> list[Change]:
    """Return an example of each change that the run takes, and of dropping one of its sources.

    Each example is tried on a draft, so that a contest accepts it. No model is called. Raises
    InputError for a run that is not finished.
    """
    record = require_finished(folder)
    chosen = method(record.method, record.protocol).on(record.input)
    settings, rulings = without_models(record, {}), rulings_of_person(folder)

    def is_possible(change: Change) -> bool:
        try:
            apply_change(Draft(record, chosen, settings, rulings, folder.path / SOURCES), change)
        except InputError:
            return False
        return True

    draft = Draft(record, chosen, settings, rulings, folder.path / SOURCES)
    with chosen.packages():
        found = [next(filter(is_possible, _list_candidates(draft, kind)), None) for kind in CHANGES]
    sources = [parse("drop", source) for source in draft.sources]
    examples = [*(change for change in found if change is not None), *filter(is_possible, sources[:1])]
    return examples + [parse("add_source", "notes.md")] * bool(sources)


def _list_candidates(draft: Draft, kind: str) -> Iterator[Change]:
    """Yield changes of a kind at every place of the run, the most useful place first."""
    nodes = sorted(draft.nodes.values(), key=lambda node: node.kind != "argument")
    match kind:
        case "replace":
            leaves_first = sorted(draft.turns, key=lambda turn: _has_children(draft, turn))
            yield from (parse(kind, turn, TEXT) for turn in leaves_first)
        case "verdict":
            for node in draft.nodes.values():
                for text in (*labels(draft.record, node), TEXT):
                    yield parse(kind, node.id, text)
        case "drop":
            yield from (parse(kind, name) for name in (*(node.id for node in nodes), *draft.turns))
        case "restore":
            yield from (parse(kind, override.id) for override in draft.overrides.values())
        case "set":
            yield from (parse(kind, f"{node.id}={figure}") for node in nodes for figure in (0.1, 0.9))
        case "flip" | "void":
            for node in nodes:
                for met in node.comparisons:
                    yield parse(kind, f"{met.supporter}:{met.attacker}")
        case "add":
            yield from (parse(kind, f"attack:{node}", TEXT) for node in draft.nodes)
        case _:
            return  # a source to add is a file of the person's


def _has_children(draft: Draft, turn: str) -> bool:
    return bool(draft.nodes[draft.turns[turn].node].children)
