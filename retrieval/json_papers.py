"""JSON: an object with a title, an abstract, and a body or an introduction."""

from __future__ import annotations

import json
from collections.abc import Mapping

from dialectree.errors import InputError
from dialectree.retrieval import plain
from dialectree.retrieval.drafts import Draft


def draft(text: str, name: str) -> Draft:
    """Return what a JSON object says; without a body, its introduction is the body."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = str(error).splitlines()[0][:100]
        raise InputError(f"{name}: not one JSON object ({why})") from None
    if not isinstance(fields, dict):
        raise InputError(f"{name}: not a JSON object; give title, abstract and body")
    return draft_of(fields, name)


def draft_of(fields: Mapping[str, object], name: str) -> Draft:
    """Return what a parsed object says."""
    introduction = _text(fields, "introduction", name)
    body = _text(fields, "body", name) or _text(fields, "text", name) or introduction
    if body is None:
        raise InputError(f"{name}: no text in it; give a body or an introduction")
    title, abstract = _text(fields, "title", name), _text(fields, "abstract", name)
    return Draft(title, abstract, plain.blocks_of(body), introduction)


def _text(fields: Mapping[str, object], field: str, name: str) -> str | None:
    text = fields.get(field)
    if text is not None and not isinstance(text, str):
        raise InputError(f'{name}: "{field}" is not text')
    return text.strip() or None if text else None
