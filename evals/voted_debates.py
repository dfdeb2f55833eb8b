"""Read the votes and debates of one row of an evaluation, from its folder alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from dialectree.answers import normal
from dialectree.errors import InputError
from dialectree.evals.intervals import floats
from dialectree.evals.reporting.answers import Answers, tokens
from dialectree.evals.reporting.study import Study, study
from dialectree.evals.results import EvaluationFile, Result, Row, Vote
from dialectree.evals.results_file import Folder
from dialectree.evals.route_choice import Sample
from dialectree.evals.tasks import require_declared_evaluation
from dialectree.protocols.protocol import EarlyEnd, Method, load_protocols
from dialectree.protocols.protocol import method as named_method
from dialectree.protocols.routes import ALWAYS
from dialectree.records.folder import RunFolder


@dataclass(frozen=True)
class VotedDebates:
    """A row whose questions were all voted on, and all debated."""

    study: Study
    answers: Answers
    method: Method
    sample: Sample
    voters: list[str]
    """The model of each vote, without its address; an empty text if it is unknown."""
    votes: int | None
    """The number of votes on each question; None if it varies."""
    left_out: Counter[str]
    """Questions whose vote or debate is not known to be right or wrong, by reason."""
    withheld: int
    """Debates without an answer; they count as not right."""
    runs: list[str]
    """Ids of the runs."""

    @property
    def evaluation(self) -> EvaluationFile:
        """The evaluation."""
        return self.study.evaluations[0]

    @property
    def row(self) -> Row:
        """The row, without the addresses of its models."""
        return self.answers.row

    @property
    def inside(self) -> bool:
        """True if each run begins with the vote, and its debate gets the answers voted for."""
        return self.method.protocol.early is not None

    def debate(self) -> tuple[Method, dict[str, JsonValue], dict[str, str]]:
        """Return the method that debates, the settings that were set for it, and its models by role.

        Raises InputError if another protocol debates inside this one, and no run names it.
        """
        models, folder = self.row.models, self.study.folders[0]
        if not self.inside:
            return self.method, self.row.settings, models
        protocol_names = sorted({name for run in self.runs[:1] for name in _inner(folder, run)})
        if len(protocol_names) != 1:
            raise InputError(f"{folder}: its runs do not say which protocol debated")
        inner = named_method(protocol_names[0], protocol_names[0])
        settings = self.row.settings.get("inner", {})
        inner_settings = settings.get(inner.name, {}) if isinstance(settings, dict) else {}
        roles = inner.own_roles()
        return (
            inner,
            inner_settings if isinstance(inner_settings, dict) else {},
            {role: model for role, model in models.items() if role in roles},
        )


def _inner(folder: Path, run: str) -> Iterator[str]:
    record = RunFolder(Folder(folder).runs / run).record()
    yield from (node.protocol for node in record.tree.nodes.values() if node.protocol)


def read(path: Path, name: str | None = None) -> VotedDebates:
    """Return the votes and debates of a row: ``name``, or the only row whose models vote first.

    Raises InputError, with the command to run, for an unknown row, for a row that skipped debates,
    and for a single vote on a question, since agreement needs two.
    """
    joined = study([path])
    answers = joined.rows[_choose_row(path, name, joined)]
    row, results = answers.row, [*answers.results.values()]
    method = named_method(row.method)
    early = method.protocol.early
    _require_debates(row, early, results)
    ends = [(result, _reason(result, answers.ends[result.item])) for result in results]
    counted_results = [result for result, reason in ends if not reason]
    if not counted_results:
        raise InputError(f"{path}: row {row.name!r} has no question with a vote and a debate")
    votes = [vote for result in counted_results if (vote := result.vote)]
    if any(vote.pair for vote in votes):
        raise InputError(f"{path}: row {row.name!r} was handed the right answer and a wrong one")
    if min(len(vote.answers) for vote in votes) < 2:
        raise InputError(f"{path}: a single vote agrees with itself: ask with --vote-first 3")
    if not any(tokens(result.usage) for result in counted_results):
        raise InputError(f"{path}: no tokens were counted: the endpoint does not report them")
    sample = Sample(
        floats([_share(vote) for vote in votes]),
        floats([vote.right is True for vote in votes]),
        floats([answers.ends[result.item] == "right" for result in counted_results]),
        floats([float(tokens(vote.usage)) for vote in votes]),
        floats([float(tokens(o.usage) - _count_included_vote_tokens(o)) for o in counted_results]),
        [result.group for result in counted_results],
    )
    return VotedDebates(
        joined,
        answers,
        method,
        sample,
        _voters(joined.evaluations[0], row, method, early),
        len(votes[0].answers) if len({len(vote.answers) for vote in votes}) == 1 else None,
        Counter(reason for _, reason in ends if reason),
        sum(answers.ends[result.item] == "unanswered" for result in counted_results),
        [result.run for result in counted_results if result.run],
    )


def _choose_row(path: Path, name: str | None, joined: Study) -> str:
    """Return ``name``, or the name of the only row that voted first."""
    rows = joined.rows.items()
    voted = [row for row, answers in rows if any(result.vote for result in answers.results.values())]
    if name is not None and name not in joined.rows:
        raise InputError(f"--row {name}: there is no such row; rows are {', '.join(joined.rows)}")
    if not (voted if name is None else name in voted):
        begin = [protocol for protocol in load_protocols().values() if protocol.early]
        options = [
            f"--methods {protocol.name} --{_flag(protocol.early)} {ALWAYS}"
            for protocol in begin
            if protocol.early
        ]
        which = "in no row" if name is None else f"not in row {name!r}"
        how = " or ".join(["--vote-first 3", *options])
        raise InputError(f"{path}: {which} models vote before they debate; evaluate with {how}")
    if name is None and len(voted) > 1:
        raise InputError(f"{path}: several rows voted first; --row is one of {', '.join(voted)}")
    return name or voted[0]


def _require_debates(row: Row, early: EarlyEnd | None, results: list[Result]) -> None:
    spared = sum(
        early is not None and result.verdict is not None and result.verdict.confidence_source == early.source
        for result in results
    )
    if early and spared:
        raise InputError(
            f"row {row.name!r} held no debate on {spared} of {len(results)} questions: evaluate "
            f"with --{_flag(early)} {ALWAYS}, so that every question is debated, or a debate with "
            "--vote-first 3"
        )


def _flag(early: EarlyEnd) -> str:
    return early.threshold.replace("_", "-")


def _reason(result: Result, end: str) -> str:
    """Return the reason to leave a question with this outcome out, or an empty text."""
    vote = result.vote
    if end == "failed":
        return "failed"
    if end in ("unparsed", "unscored"):
        return "without a judgement of the debate"
    if vote is None:
        return "without a vote"
    return "without a judgement of the vote" if vote.given and vote.right is None else ""


def _share(vote: Vote) -> float:
    """Return the share of the votes for the most frequent answer; texts are compared normalised."""
    if vote.label is not None:
        return vote.confidence or 0.0
    texts = Counter(normal(text) for text in vote.answers if text is not None)
    return max(texts.values(), default=0) / len(vote.answers)


def _count_included_vote_tokens(result: Result) -> int:
    """Return the tokens of the vote that the debate's tokens include."""
    return tokens(result.vote.usage) if result.vote and result.vote.inside else 0


def _voters(evaluation: EvaluationFile, row: Row, method: Method, early: EarlyEnd | None) -> list[str]:
    if early is None:
        role = require_declared_evaluation(method).voters[method.name]
        return [row.models.get(role, "")] * evaluation.vote_first
    families = {phase.role for phase in method.protocol.phases if phase.name == early.phase}
    role_families = method.own_roles()
    return [spec for role, spec in row.models.items() if role_families.get(role) in families]
