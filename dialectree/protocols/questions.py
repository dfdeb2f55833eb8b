"""Turn a question into the declared input of any protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialectree.errors import InputError
from dialectree.protocols.protocol import protocol


def needs_options(name: str) -> bool:
    """Return whether the protocol ``name`` can answer only with given options."""
    fields = protocol(name).input.model_fields
    return "question" not in fields or ("options" in fields and fields["options"].is_required())


def question_for(
    name: str, question: str, *, background: Sequence[str] = (), options: Sequence[str] = (), claim: str = ""
) -> dict[str, Any]:
    """Return a question as the declared input of the protocol ``name``.

    The protocol may take a ``question``, with ``options`` and ``background`` if it has these
    fields, or a ``claim``.

    Args:
        name: the protocol that is to answer.
        question: the question, in full.
        background: facts that may be taken as known, a sentence each.
        options: the answers to choose from.
        claim: the question as a claim, for a protocol that verifies one; by default, "the answer
            to the question is yes".

    Raises InputError for a protocol that needs other input, such as documents, and for missing
    options.
    """
    fields = protocol(name).input.model_fields
    offered: Mapping[str, object] = {
        "question": question,
        "claim": claim or f"The answer to the question “{question}” is yes.",
        "options": [*options],
        "background": [*background],
    }
    if not {"question", "claim"} & {*fields}:
        raise InputError(f"{name} cannot answer a question: its input is {', '.join(fields)}")
    question_input = {field: offered[field] for field in fields if offered.get(field)}
    if missing := [n for n, field in fields.items() if field.is_required() and n not in question_input]:
        raise InputError(f"{name} cannot answer the question without {', '.join(missing)}")
    return question_input
