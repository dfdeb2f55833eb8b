"""JSON: an object with a title, an abstract, and a body or an introduction."""

from __future__ import annotations

import json
from collections.abc import Mapping

from dialectree.errors import InputError
from dialectree.retrieval import plain
from dialectree.retrieval.drafts import Draft


def draft(text: str, name: str) -> Draft:
    """What the object says; without a body, its introduction is the body."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = str(error).splitlines()[0][:100]
        raise InputError(f"{name}: not one JSON object ({why})") from None
    if not isinstance(told, dict):
        raise InputError(f"{name}: not a JSON object; give title, abstract and body")
    return draft_of(told, name)


def draft_of(told: Mapping[str, object], name: str) -> Draft:
    """The same of an object that is read already."""
    introduction = _text(told, "introduction", name)
    body = _text(told, "body", name) or _text(told, "text", name) or introduction
    if body is None:
        raise InputError(f"{name}: no text in it; give a body or an introduction")
    title, abstract = _text(told, "title", name), _text(told, "abstract", name)
    return Draft(title, abstract, plain.blocks_of(body), introduction)


def _text(told: Mapping[str, object], field: str, name: str) -> str | None:
    said = told.get(field)
    if said is not None and not isinstance(said, str):
        raise InputError(f'{name}: "{field}" is not text')
    return said.strip() or None if said else None
