"""Define the functions by which a program debates: one for each verb of the command line.

Each function passes its input to :func:`dialectree.run`, and takes the keyword arguments of ``run``:
the settings of its protocol, ``method_name``, ``runs``, ``ask``, ``watch`` and ``progress``.
``dialectree.run(NAME, ...)`` debates by any other protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dialectree.service.api import arun, make_blocking
from dialectree.service.debates import KeptRecord

Document = str | Path | Mapping[str, Any]
"""A file or a folder, or a text from the program: ``{"name": ..., "text": ...}``."""


async def aanswer(question: str, sources: Sequence[Document] | None = None, **values: Any) -> KeptRecord:
    """Split a question into a tree, debate its leaves and merge the verdicts upward: TSD.

    Args:
        question: One question, in full.
        sources: Documents that debaters argue from.
        values: Settings by name, such as ``model`` or ``max_depth``, and the other arguments of
            :func:`dialectree.run`. A setting that is left out comes from the environment
            (``DIALECTREE_...``), from dialectree.toml, or is the protocol's default.

    Raises:
        InputError: An argument is wrong (a ValueError) or unknown (a TypeError).
        ModelUnavailable: No model can be reached.
        Halted: A budget is used up; ``dialectree.resume(error.run_id)`` goes on.

    Example:
        >>> record = dialectree.answer("Is it better to walk or to drive?", max_depth=1)
        >>> record.status
        'answered'
    """
    return await arun("tsd", question=question, **_keep_given(sources=sources), **values)


async def adecide(
    question: str,
    options: Sequence[str] | None = None,
    background: Sequence[str] | None = None,
    gold: str | None = None,
    sources: Sequence[Document] | None = None,
    **values: Any,
) -> KeptRecord:
    """Let two debaters argue for an answer each, switch sides and state doubts; a judge decides: RSD.

    Args:
        question: One question, in full.
        options: The answers to choose from, 2 to 26; None for an open question.
        background: Facts that debaters and judge may take as known, a sentence each.
        gold: The right option's letter; for evaluations only.
        sources: Documents that debaters argue from.
        values: As in :func:`dialectree.answer`, which also lists the errors.

    Example:
        >>> record = dialectree.decide("Which gas do plants take in?", ["O2", "CO2"])
        >>> record.status
        'answered'
    """
    inputs = _keep_given(options=options, background=background, gold=gold, sources=sources)
    return await arun("rsd", question=question, **inputs, **values)


async def averify(claim: str, sources: Sequence[Document] | None = None, **values: Any) -> KeptRecord:
    """Grow arguments for and against a claim, and say how probable they make it: ART.

    Args:
        claim: One sentence that is true or false.
        sources: Documents that the arguments come from.
        values: As in :func:`dialectree.answer`, which also lists the errors.

    Example:
        >>> record = dialectree.verify("Chameleons change colour for camouflage.")
        >>> record.status
        'answered'
    """
    return await arun("art", claim=claim, **_keep_given(sources=sources), **values)


async def acompare(
    paper_a: Document,
    paper_b: Document,
    topic: str,
    title_a: str | None = None,
    title_b: str | None = None,
    abstract_a: str | None = None,
    abstract_b: str | None = None,
    key_a: str | None = None,
    key_b: str | None = None,
    **values: Any,
) -> KeptRecord:
    """Let two papers debate a topic, part by part; say what they share and what not: ToD.

    Args:
        paper_a: A file (PDF, .txt, .md, .tex, .json ...), an arXiv id, or a text.
        paper_b: The other paper, given in the same ways.
        topic: The topic to compare them on.
        title_a: Title of paper a, if its file does not show it.
        title_b: Title of paper b, if its file does not show it.
        abstract_a: Abstract of paper a; without one, the paper's opening is used.
        abstract_b: Abstract of paper b, in the same way.
        key_a: BibTeX key of paper a.
        key_b: BibTeX key of paper b.
        values: As in :func:`dialectree.answer`, which also lists the errors.

    Example:
        >>> record = dialectree.compare("one.pdf", "other.pdf", "How parcels are sorted")
        >>> record.status
        'answered'
    """
    inputs = _keep_given(
        title_a=title_a,
        title_b=title_b,
        abstract_a=abstract_a,
        abstract_b=abstract_b,
        key_a=key_a,
        key_b=key_b,
    )
    return await arun("tod", paper_a=paper_a, paper_b=paper_b, topic=topic, **inputs, **values)


async def avote(
    question: str,
    options: Sequence[str] | None = None,
    sources: Sequence[Document] | None = None,
    **values: Any,
) -> KeptRecord:
    """Ask several models first, and debate only where they do not agree.

    Args:
        question: One question, or a claim to verify, in full. Without options, a text without a
            question mark at its end is a claim.
        options: The answers to choose from, 2 to 26; None for an open question.
        sources: Documents that debaters argue from.
        values: As in :func:`dialectree.answer`, which also lists the errors.

    Example:
        >>> record = dialectree.vote("Which gas do plants take in?", ["O2", "CO2"])
        >>> record.status
        'answered'
    """
    inputs = _keep_given(options=options, sources=sources)
    return await arun("vote_first", question=question, **inputs, **values)


answer = make_blocking(aanswer)
decide = make_blocking(adecide)
verify = make_blocking(averify)
compare = make_blocking(acompare)
vote = make_blocking(avote)


def _keep_given(**inputs: Any) -> dict[str, Any]:
    """Return the inputs that were given."""
    return {name: value for name, value in inputs.items() if value is not None}
