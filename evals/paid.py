"""What was paid for questions, by their journals, whether or not they have a result."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from dialectree.evals.question import run_id
from dialectree.evals.results import JUDGING
from dialectree.evals.results_file import Done
from dialectree.records import Usage, from_cache, usage
from dialectree.runs import RunFolder


class Paid(NamedTuple):
    """What journals come to."""

    usage: Usage
    """Of all calls of debates and votes, those that the reply cache answered among them."""
    cached: Usage
    """Of these."""
    judging: Usage = Usage()
    """Of all calls of the judge that scores."""
    judging_cached: Usage = Usage()
    """Of these."""


def paid(runs: Path, questions: Iterable[Done]) -> dict[Done, Paid]:
    """The sums over each question's run, its votes and what judged them; none where nothing is."""
    wanted = {run_id(row, item): (row, item) for row, item in questions}
    found: dict[Done, list[Path]] = {}
    for name in os.listdir(runs) if runs.is_dir() else ():
        own = ".".join(name.split(".")[:3])  # a vote's folder has its number behind that
        if own in wanted:
            found.setdefault(wanted[own], []).append(runs / name)
    return {question: _paid(folders) for question, folders in found.items()}


def _paid(folders: list[Path]) -> Paid:
    calls = [call for folder in folders for call in RunFolder(folder).calls()]
    beside = [folder / part for folder in folders for part in JUDGING]
    judged = [call for folder in beside for call in RunFolder(folder).calls()]
    return Paid(usage(calls), from_cache(calls), usage(judged), from_cache(judged))
