"""Change the sources that a debate argues from: drop, restore or add a source."""

from __future__ import annotations

import re
from pathlib import Path

from dialectree.contests.changes import Draft
from dialectree.contests.wishes import Change
from dialectree.errors import InputError
from dialectree.records import Override
from dialectree.running.plug_points import DOCUMENTS

_OF_SOURCES = re.compile(r"(s[1-9]\d*)(?::([1-9]\d*))?")


def take_up(draft: Draft, change: Change) -> bool:
    """Apply ``change`` to ``draft`` if it concerns a whole source; return whether it does."""
    if change.change == "add_source":
        _add(draft, change)
        return True
    match, names = _OF_SOURCES.fullmatch(change.id), _names(draft)
    if match is None or not names:
        return False
    source, segment = match.groups()
    if source not in names:
        source_list = ", ".join(f"{source_id} ({name})" for source_id, name in names.items())
        raise InputError(f"{change.flag}: the run has no such source; it has {source_list}")
    if segment is not None:
        if change.change == "replace":
            draft.require_not_dropped(change, source)
        return False
    added = draft.find(source, "added")
    if change.change == "drop":
        draft.require_not_dropped(change, source)
        name = names[source]
        draft.hold(Override(id=source, what="dropped", spots=[], before=name))
    elif change.change == "restore" and added is not None and draft.find(source, "out") is None:
        _take_out(draft, change, added)
    elif change.change != "restore":
        raise InputError(f"{change.flag}: a source is dropped, restored or added as a whole")
    else:
        return False
    return True


def _names(draft: Draft) -> dict[str, str]:
    """Return the names of the given and the retrieved sources, by id."""
    names = {id: str(source_fields["name"]) for id, source_fields in draft.sources.items()}
    for id, segment in draft.record.tree.segments.items():
        source = id.partition(":")[0]
        if _OF_SOURCES.fullmatch(source) and segment.source is not None:
            names.setdefault(source, segment.source)
    return names


def _add(draft: Draft, change: Change) -> None:
    """Add a document as the last source, so that the others keep their numbers."""
    if not _names(draft):
        raise InputError(f"{change.flag}: the run argues from no sources")
    document = {"name": change.where, "text": change.text} if change.text else Path(change.where)
    sources = DOCUMENTS.require().read_given([document], reader=draft.reader)
    if len(sources) != 1 or not isinstance(source := sources[0], dict):
        raise InputError(f"{change.flag}: these are {len(sources)} documents; name one")
    for earlier_source in draft.sources.values():
        if earlier_source["digest"] == source["digest"]:
            raise InputError(
                f"{change.flag}: {earlier_source['id']} ({earlier_source['name']}) has the same text"
            )
    name, new = str(source["name"]), f"s{len(draft.sources) + 1}"
    if name in [other_source["name"] for other_source in draft.sources.values()]:
        name = change.where
    draft.sources[new] = {**source, "id": new, "name": name}
    draft.hold(Override(id=new, what="added", spots=[], after=name))


def _take_out(draft: Draft, change: Change, added: Override) -> None:
    """Remove an added source, and undo the changes of its segments."""
    last = [*draft.sources][-1]
    if added.id != last:
        raise InputError(f"{change.flag}: {last} was added after it; restore that first")
    draft.take_back(added, f"{added.id} ({added.after}) taken out")
    del draft.sources[added.id]
    for key in [*draft.overrides]:
        if key[0].startswith(f"{added.id}:"):
            del draft.overrides[key]
