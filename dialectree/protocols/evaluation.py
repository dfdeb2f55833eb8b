"""Declare how a protocol is evaluated; only evaluations read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Task = Literal["answer", "decide", "verify", "compare"]
"""The task of the items in a data set."""
Part = Literal["alone", "critique", "consultancy", "samples", "debate"]
"""The part that a method plays in an audit: one model's answer, this answer after one critique, one
debater alone before the judge, samples that use as many tokens as a debate, or the debate."""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Declare a data set by name. Code is named as ``module:attribute``."""

    name: str
    task: Task
    version: str
    licence: str
    source: str
    citation: str
    form: str
    """The fields of a row in the documented form."""
    row: str
    """Names a function that turns a row of the documented form into columns of an evaluation's file."""
    count: int | None = None
    """Number of items in the whole set, if known."""
    url: str = ""
    """The address of the published file; without an address, the user has to give a file."""
    sha256: str = ""
    """The hash of the published file."""
    published: str = ""
    """Names a function that yields rows of the documented form from the text of the published file.
    Without ``sha256`` the function reads any file of the user's, and also gets the file's folder."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Declare how a protocol and its variants are evaluated."""

    task: Task
    paper_names: Mapping[str, str] = field(default_factory=dict[str, str])
    """The name of each method in a paper's table, such as ``Best-of-{samples}``. Braces name a
    setting."""
    also: tuple[Task, ...] = ()
    """Other tasks whose data sets can evaluate the protocol. The protocol's methods are then compared
    with the baselines of the protocols whose ``task`` it is. A claim becomes the ``question`` where
    the input has no ``claim``."""
    voters: Mapping[str, str] = field(default_factory=dict[str, str])
    """For each method, a role whose model answers directly in the vote before a debate. All roles of
    that role's family argue in the debate."""
    vote_by: str = ""
    """The method by which the models answer directly in the vote."""
    plainest: tuple[str, ...] = ()
    """The baselines that a report prefers to compare with, the plainest first. If none of them was
    run, the report takes another baseline of the task."""
    plainest_on_a_pair: tuple[str, ...] = ()
    """The baselines that a report prefers where a debate is given the right answer and a wrong one."""
    given_gold: Callable[[Any], bool] = lambda settings: False
    """Returns whether the method is given the right answer with these settings."""
    sides: str = ""
    """Names a function that takes a record and the right label, and returns the position of the right
    answer in the debate."""
    unmarked: str = ""
    """Names a function that removes the program's own marks from an answer before it is judged."""
    equal_tokens: str = ""
    """The method that spends as many tokens as a debate on samples of one model."""
    samples: int = 0
    """Number of samples, where a row does not give a number."""
    audit: Mapping[Part, str] = field(default_factory=dict[Part, str])
    """The method for each part of an audit. The protocol lacks the parts that are not listed."""
    argue: tuple[str, ...] = ()
    """The roles that argue in the methods of an audit. If several models are audited, each role takes
    another model, in the order of the roles."""
    datasets: tuple[Dataset, ...] = ()
    """The data sets of the paper that only this protocol is measured by."""
