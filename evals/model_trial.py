"""Measure how well a model debates, with at most 30 calls.

In each case the model is asked for the turn of one speaker, or of an attacker and its scorer. The
turns before that turn are given, and all other speakers stay silent. The graphs are those of the
protocols, so the model reads the prompts of a real debate.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from dialectree.errors import BudgetReached, CallError
from dialectree.evals.trial_cases import Case, CaseFile, Skill, load_files, mix_cases
from dialectree.evals.trial_result import Share, TrialResult, find_remarks
from dialectree.models.asking import Completion, ModelRequest, PromptForm
from dialectree.models.limits import Budget
from dialectree.models.run import Run
from dialectree.models.sizes import at_chance
from dialectree.models.small_models import split_sentences
from dialectree.models.specs import Spec, resolve
from dialectree.protocols.protocol import Method, method
from dialectree.protocols.settings import ProtocolSettings, build_settings
from dialectree.records import Call
from dialectree.running.estimates import Pace, Size, estimate_from_sizes, rehearse_debates
from dialectree.system import clock
from dialectree.text import format_list

MOST_CALLS = 30
"""Calls of a trial, repairs included."""
ReportProgress = Callable[[str, int, int], None]
"""Gets the skill that is measured, the number of the skill's cases that are done, and their total."""


class TrialRun(Run):
    """A debate in which the model is asked only for the turns to measure."""

    def __init__(self, context: ProtocolSettings, file: CaseFile, case: Case, budget: Budget) -> None:
        super().__init__("trial", context, budget=budget)
        self.file, self.case = file, case
        self.calls: list[Call] = []
        self.asked, self.repaired = set[str](), set[str]()
        """Roles that were asked, and roles that were asked again because of a faulty reply."""
        self.spoken: dict[str, Mapping[str, Any]] = {}
        """The data of the ``spoke`` event of each role's first turn, by role."""
        self.log = lambda call, texts: self.calls.append(call)
        self.hear = self._hear

    async def call(self, asking: ModelRequest) -> Call:
        """Return a given turn, or ask the model for a turn to measure; else raise CallError."""
        turn = asking.place
        for case_turn in self.case.given:
            if case_turn.is_at(turn):
                done = Completion(json.dumps(case_turn.fields), "stop", attempts=0)
                return asking.call(done, clock.stamp(), "person")
        if turn.role in self.spoken or not self.file.asks(turn):  # first turns alone are measured
            raise CallError("not asked in a trial")
        self.asked.add(turn.role)
        if asking.repair and not asking.doubted:
            self.repaired.add(turn.role)
        return await super().call(asking)

    def _hear(self, event: Mapping[str, Any]) -> int:
        data = event["data"]
        if event["kind"] == "spoke" and data["role"] in self.asked:
            self.spoken.setdefault(data["role"], data)
        return 0


@dataclass
class Trial:
    """A trial of the model that ``settings`` name. :meth:`result` works at any time."""

    settings: Mapping[str, Any]
    runs: list[TrialRun] = field(default_factory=list[TrialRun])
    """One run for each case that began."""
    failed: int = 0
    files: list[CaseFile] = field(default_factory=load_files)
    spec: Spec | None = None
    form: PromptForm = "full"
    sizes: dict[str, list[Size]] = field(default_factory=dict[str, list[Size]])
    began: float = field(default_factory=clock.seconds)
    ended_early: str = ""
    """The reason why the trial ended before its last case; else empty."""

    def context(self, chosen: Method, settings: Mapping[str, Any]) -> ProtocolSettings:
        """Return the settings of a debate by the method ``chosen`` in which only the tried model speaks."""
        alone = {"roles": {}, "cache": False, "replay": False}
        context = build_settings(chosen.protocol.settings, **{**self.settings, **settings, **alone})
        call_limit = min(context.max_calls or MOST_CALLS, MOST_CALLS)
        return context.model_copy(update={"max_calls": call_limit})

    async def measure(self, report: ReportProgress) -> None:
        """Ask the model until all cases or 30 calls are done.

        Raises:
            DialectreeError: as in a debate, such as Unreachable if the endpoint does not answer.
        """
        context = self.context(self.files[0].find_method(), {})
        budget, spec = Budget(context), resolve(context.model, context)
        self.spec, self.form = spec, await Run("", context).prompt_form(context, spec)
        self.settings = {**self.settings, "prompt_form": self.form}
        for file in self.files:
            debate_method, debate = method(file.protocol), file.debate
            context = self.context(debate_method, debate.settings)
            graph_input = debate_method.prepare(debate.input, context)
            self.sizes[debate.title] = await rehearse_debates(
                debate_method, graph_input, context, calls=4 * MOST_CALLS
            )
        self.began = clock.seconds()
        done = Counter[Skill]()
        for file, case in mix_cases(self.files):
            report(file.skill, done[file.skill], len(file.cases))
            try:
                await self._hold(file, case, budget)
            except BudgetReached as error:
                all_made = budget.calls >= MOST_CALLS
                self.ended_early = f"{MOST_CALLS} calls are used up" if all_made else str(error)
                return
            done[file.skill] += 1
        calls = self.calls()
        if calls and not self.has_answer():
            raise CallError(calls[-1].error or "")

    async def _hold(self, file: CaseFile, case: Case, budget: Budget) -> None:
        """Hold the debate of one case; a turn that the budget ends is not counted."""
        chosen = file.find_method()
        context = self.context(chosen, file.settings)
        run = TrialRun(context, file, case, budget)
        self.runs.append(run)
        graph, graph_input = chosen.graph(), chosen.prepare(case.input, context)
        await graph.ainvoke(graph_input, context=context, control=run, version="v2")
        self.failed += len(run.asked - {*run.spoken})

    def calls(self) -> list[Call]:
        """Return the calls so far."""
        return [call for run in self.runs for call in run.calls]

    def has_answer(self) -> bool:
        """Return whether the model answered any call."""
        return any(call.error is None for call in self.calls())

    def result(self) -> TrialResult:
        """Return the figures so far."""
        assert self.spec is not None, "nothing was measured"
        calls = self.calls()
        answered = [call for call in calls if call.error is None]
        pace = median(call.took_s() for call in answered) if answered else None
        turn_keys = [(run, role) for run in self.runs for role in run.spoken]
        second = self._turns("second turns")
        rulings = [(case, turn) for case, turn in self._turns("rulings") if turn.get("names")]
        rated = self._turns("attacks")
        turns = [run.spoken[role] for run, role in turn_keys]
        limited = turns if self.form != "full" else []
        of = len(turn_keys)
        measured = TrialResult(
            model=self.spec.name,
            form=self.form,
            date=clock.stamp(),
            at_chance=at_chance(self.spec),
            calls=len(calls),
            seconds=round(clock.seconds() - self.began, 1),
            fits=Share(count=of, n=of + self.failed),
            repaired=_share([role in run.repaired for run, role in turn_keys]),
            failed=Share(count=self.failed, n=of + self.failed),
            disagree=_share(
                [
                    not _has_mark(turn, "copied")
                    and disagrees(turn["fields"]["claim"], case.first, case.other)
                    for case, turn in second
                ]
            ),
            copied=_share([_has_mark(turn, "copied") for _, turn in second]),
            attacks=_share([turn["fields"]["direction"] == "attacks" for _, turn in rated]),
            first_chosen=_share([turn["names"] == "A" for _, turn in rulings]),
            right_chosen=_share([turn["names"] == case.right for case, turn in rulings]),
            cut=_share([_has_mark(turn, "cut") for turn in limited]),
            seconds_median=pace,
            prompt_tokens=_middle([call.prompt_tokens for call in answered]),
            completion_tokens=_middle([call.completion_tokens for call in answered]),
            minutes={
                name: round(estimate_from_sizes(sizes, Pace(seconds=pace)).seconds.median / 60, 2)
                for name, sizes in self.sizes.items()
                if pace is not None
            },
            remarks=[],
        )
        return measured.model_copy(update={"remarks": [*self._gaps(), *find_remarks(measured)]})

    def _turns(self, skill: Skill) -> list[tuple[Case, Mapping[str, Any]]]:
        """Return the turns that show ``skill``, each with its case."""
        return [
            (run.case, run.spoken[run.file.shown_by])
            for run in self.runs
            if run.file.skill == skill and run.file.shown_by in run.spoken
        ]

    def _gaps(self) -> list[str]:
        """Return a sentence on the cases that were measured, if the trial ended early."""
        parts = [
            f"{measured} of {len(file.cases)} {file.skill}"
            for file in self.files
            if (measured := len(self._turns(file.skill))) < len(file.cases)
        ]
        if not (self.ended_early and parts):
            return []
        return [f"It ended early, as {self.ended_early}: the figures rest on {format_list(parts)}."]


_NOT = r"\b(?:not|no|never|nor|cannot|than|instead of|without)|n['’]t"
_IS_NOT = r"(?:is|are|was|were|do|does|did|has|should|would|will|can)(?:\s*not\b|n['’]t)"
_FALSE = r"(?:is|are)\s+(?:wrong|false|incorrect)"


def disagrees(claim: str, first: Sequence[str], other_camp: Sequence[str]) -> bool:
    """Return whether ``claim`` is for another camp than the first speaker's.

    A claim is for another camp if it denies the first one ("not in the refrigerator", "a dog is not",
    "rather than a dog"), or if it names the other camp before the first one. A few words identify a
    camp. The rule does not understand text: it misses a third answer in other words ("Melbourne"),
    and takes "some say it is a cat" for disagreement.

    Args:
        claim: the second speaker's claim.
        first: beginnings of words that name the first speaker's camp.
        other_camp: beginnings of words that name the other camp.
    """
    sentence = " ".join(split_sentences(claim)[:2]).lower() or claim.lower()
    mine, theirs = (_find_words(sentence, words) for words in (first, other_camp))
    names = "|".join(map(re.escape, first))
    before = rf"(?:{_NOT})\s+(?:[\w'’-]+\s+){{0,3}}(?:{names})"
    after = rf"\b(?:{names})\w*\s+(?:\w+\s+){{0,2}}(?:{_IS_NOT}|{_FALSE})"
    if re.search(f"{before}|{after}", sentence):
        return True
    return theirs is not None and (mine is None or theirs < mine)


def _find_words(text: str, words: Sequence[str]) -> int | None:
    """Return the index in ``text`` of the first match of any of ``words``, or None."""
    match = re.search(rf"\b(?:{'|'.join(map(re.escape, words))})", text)
    return match.start() if match else None


def _has_mark(turn: Mapping[str, Any], mark: str) -> bool:
    return mark in turn.get("marks", ())


def _share(hits: Sequence[bool]) -> Share:
    return Share(count=sum(hits), n=len(hits))


def _middle(numbers: Sequence[int]) -> int:
    return round(median(numbers)) if numbers else 0
