"""Declare how a protocol is evaluated; only evaluations read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Task = Literal["answer", "decide", "verify", "compare"]
"""What the items of a data set ask for."""
Part = Literal["alone", "critique", "consultancy", "samples", "debate"]
"""What a method is in an audit: one model's answer, the same after one critique, one debater before
the judge, a debate's tokens spent on samples, and the debate."""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Declare a data set by name. Code is written ``module:attribute``."""

    name: str
    task: Task
    version: str
    licence: str
    source: str
    citation: str
    form: str
    """The fields of a row in the documented form."""
    row: str
    """Returns the columns of an evaluation's own file for a row of the documented form."""
    count: int | None = None
    """Items in the whole set, where known."""
    url: str = ""
    """The published file; without one the set is read from a file of the user only."""
    sha256: str = ""
    """Of the published file."""
    published: str = ""
    """Yields rows of the documented form from the text of the published file. Without ``sha256``,
    from any file of the user's, whose folder it is given, too."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Declare how a protocol and its variants are evaluated."""

    task: Task
    also: tuple[Task, ...] = ()
    """Other tasks by whose data sets it is evaluated; its methods are compared with the baselines
    of the protocols whose ``task`` that is. A claim is put to it as its ``question`` where its
    input has no ``claim``."""
    voters: Mapping[str, str] = field(default_factory=dict[str, str])
    """By method, the role whose model answers directly in the vote before a debate. It argues in
    the debate, and so do the other roles of its family."""
    vote_by: str = ""
    """The method that gives these direct answers."""
    plainest: tuple[str, ...] = ()
    """The baselines that a report prefers when it compares others with one, the plainest first. It
    takes any other baseline of the task where none of them was run."""
    plainest_on_a_pair: tuple[str, ...] = ()
    """Those that come first where a debate is handed the right answer and a wrong one."""
    given_gold: Callable[[Any], bool] = lambda settings: False
    """Whether the method is given the right answer with these settings."""
    sides: str = ""
    """Reads from a record, and the right label, where the right answer stood in a debate."""
    unmarked: str = ""
    """Takes the program's own marks off an answer before somebody judges it."""
    equal_tokens: str = ""
    """The method that spends the tokens of a debate on samples of one model instead."""
    samples: int = 0
    """Its samples, where a row does not say how many."""
    audit: Mapping[Part, str] = field(default_factory=dict[Part, str])
    """The methods of an audit. A part that is not there is one that the protocol does not have."""
    argue: tuple[str, ...] = ()
    """The roles that argue in these methods. Of several models each takes another, in this
    order."""
    datasets: tuple[Dataset, ...] = ()
    """The data sets of the paper that no other protocol is measured by."""
