"""Split a text into claims, and verify each of them by a protocol that gives a probability."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from langchain_core.runnables import RunnableLambda
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, JsonValue

from dialectree.errors import DialectreeError, InputError
from dialectree.models.door import Run, ask
from dialectree.models.limits import Budget
from dialectree.models.sizes import at_chance
from dialectree.models.specs import resolve
from dialectree.protocols.protocol import Method, methods
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records import Place
from dialectree.records.estimate import Estimate
from dialectree.records.folder import RunFolder
from dialectree.report.verdicts import format_calibrated_confidence, verdict_text
from dialectree.running.estimates import Size, estimate_from_sizes, pace_of, rehearse_debates
from dialectree.running.held_run import Watch
from dialectree.running.recorded_settings import speakers
from dialectree.running.runner import begin, prepare_graph_input
from dialectree.service.debates import ActiveRun
from dialectree.system.loop import finish_all
from dialectree.text import line as on_one_line

_PROMPT = "claims/splitter"
_PORTION = 8_000
"""The most characters of a text that one call splits."""
_REASON = 300
"""The most characters of the reason in a finding."""


class ClaimReply(BaseModel):
    """One claim, and the lines on which it stands."""

    lines: Annotated[list[str], Field(min_length=1)]
    claim: Annotated[str, Field(min_length=1, max_length=1000)]


class SplitterReply(BaseModel):
    """The claims of a text."""

    claims: list[ClaimReply]


class Finding(BaseModel, frozen=True):
    """A claim of a text, and the outcome of its debate."""

    line: int
    """The line of the text on which the claim begins, from 1."""
    last_line: int
    claim: str
    passed: bool = False
    """True if the probability is high enough, or if a method without probabilities rules ``True``."""
    decided: bool = True
    """False if the debate ended without an answer: the sources say nothing, or are balanced."""
    probability: float | None = None
    reason: str = ""
    """Why the claim has this probability, or why it could not be verified."""
    run: str | None = None
    """The id of the run that verified the claim."""


def verifying_method(name: str | None = None) -> Method:
    """Return the method ``name`` of a protocol that gives a probability.

    Without a name, return our only protocol that gives a probability, or else the only one of other
    packages. Raises InputError if several protocols give one.
    """
    able = {key: method for key, method in methods().items() if method.protocol.outcome == "probability"}
    protocols = [method for method in able.values() if method.name == method.protocol.name]
    protocols = [method for method in protocols if method.protocol.ours] or protocols
    if name is None and len(protocols) == 1:
        return protocols[0]
    if name not in able:
        wrong = "" if name is None else f" {name}: it gives no probability of a claim"
        raise InputError(f"`method`{wrong or ': several give a probability'}; choose from {', '.join(able)}")
    return able[name]


@dataclass
class ClaimVerifier:
    """Verifies the claims of texts within one budget."""

    method: Method
    context: ProtocolSettings
    minimum: float
    """The least probability with which a claim passes."""
    sources: Sequence[JsonValue] = ()
    """The documents for the debate of each claim, in the form that a graph takes."""
    budget: Budget = field(init=False)
    fault: DialectreeError | None = field(default=None, init=False)
    """The first error that kept a claim from being verified. After this error no call is made."""

    def __post_init__(self) -> None:
        """Begin the budget that splitting and verifying share."""
        self.budget = Budget(self.context)

    @property
    def demonstration(self) -> bool:
        """Return whether one of the models is so small that it answers at chance."""
        splitter = resolve(self.context.model, self.context)
        return any(map(at_chance, [splitter, *speakers(self.method, self.context).values()]))

    async def split(self, text: str) -> list[Finding]:
        """Return the claims of ``text`` in order, each repeated claim once."""
        # The tag keeps the replies out of the messages that a host's graph streams.
        split = RunnableLambda(self._split).with_config(run_name="split", tags=["nostream"])
        parts = await split.abatch([*_portions(text)])
        claims: dict[str, Finding] = {}
        for reply in parts:
            for claim_reply in reply.claims:
                numbers = [*map(int, claim_reply.lines)]
                text = claim_reply.claim.strip()
                finding = Finding(line=min(numbers), last_line=max(numbers), claim=text)
                claims.setdefault(text, finding)
        return sorted(claims.values(), key=lambda claim: claim.line)

    async def _split(self, lines: Mapping[str, str]) -> SplitterReply:
        run = Run("", self.context, budget=self.budget)
        runtime: Runtime[Any] = Runtime(context=self.context, control=run)

        def check(reply: SplitterReply) -> str | None:
            return next(
                filter(None, (self._find_claim_fault(claim_reply, lines) for claim_reply in reply.claims)),
                None,
            )

        place, ids = (Place(node="0", phase="splitting", role="splitter"), {"claims.lines[]": [*lines]})
        return await ask(runtime, place, _PROMPT, SplitterReply, suggested=ids, check=check, lines=lines)

    def _find_claim_fault(self, reply: ClaimReply, lines: Mapping[str, str]) -> str | None:
        """Return why the method cannot take a claim, or None."""
        if unknown := [number for number in reply.lines if number not in lines]:
            return f"lines: there is no line {unknown[0]!r:.20}"
        try:
            self.graph_input(reply.claim)
        except InputError as error:
            return f"{reply.claim!r:.100}: {error}"
        return None

    def graph_input(self, claim: str) -> dict[str, Any]:
        """Return a claim as input of the method's graph; raise InputError if it does not fit."""
        first = next(iter(self.method.protocol.input.model_fields))
        inputs: dict[str, Any] = {first: claim}
        if self.sources:
            inputs["sources"] = [*self.sources]
        return prepare_graph_input(self.method, inputs, self.context)

    async def estimate(self, example: str, counts: Sequence[int], runs: Path) -> Estimate:
        """Estimate the calls, tokens and time to verify claims like ``example``.

        ``counts`` are the least and the most claims. The calls that split the text are left out.
        """
        specs = speakers(self.method, self.context).values()
        protocol_name = self.method.protocol.name
        pace = pace_of(RunFolder.all(runs), {spec.name for spec in specs}, protocol_name)
        sizes = await rehearse_debates(self.method, self.graph_input(example), self.context, pace.words)
        return estimate_from_sizes([_times(size, count) for count in counts for size in sizes], pace)

    async def verify(
        self, claims: Sequence[Finding], runs: Path, watch: Watch | None = None
    ) -> list[Finding]:
        """Verify each claim of :meth:`split`; keep paid replies even after an error.

        Each claim gets its own run in ``runs``. An error that ended the verification is in
        :attr:`fault`.
        """
        slots = asyncio.Semaphore(self.context.concurrency)

        async def verify_in_slot(claim: Finding) -> Finding:
            async with slots:
                return await self._verify_claim(claim, runs, watch)

        return await finish_all(map(verify_in_slot, claims))

    async def _verify_claim(self, finding: Finding, runs: Path, watch: Watch | None) -> Finding:
        if self.fault is not None:
            return finding.model_copy(update={"reason": str(self.fault)})
        started = await asyncio.to_thread(
            begin, self.method, self.graph_input(finding.claim), self.context, runs
        )
        started.budget = self.budget
        run = ActiveRun(started)
        finding = finding.model_copy(update={"run": run.record.run_id})
        try:
            await run.run_to_end(watch=watch)
            if run.unreported is not None:
                raise run.unreported
        except DialectreeError as error:
            self.fault = self.budget.closed = self.fault or error
            return finding.model_copy(update={"reason": str(error)})
        verdict = run.record.verdict
        if verdict is None or verdict.answer is None:
            why = verdict_text(run.record, "answer")
            return finding.model_copy(update={"decided": False, "reason": why})
        probability = verdict.probability
        sure = verdict.label == "True" if probability is None else probability >= self.minimum
        reason = on_one_line(verdict_text(run.record, "reason"), _REASON)
        if verdict.calibrated is not None:  # shown after the probability, by which the gate decides
            reason = f"{format_calibrated_confidence(verdict.calibrated)}. {reason}"
        return finding.model_copy(update={"probability": probability, "passed": sure, "reason": reason})


def _portions(text: str) -> Iterator[dict[str, str]]:
    """Yield the part of ``text`` for each call: the lines that are not empty, by their numbers."""
    portion: dict[str, str] = {}
    for number, words in enumerate(text.splitlines(), 1):
        if words.strip():
            if portion and sum(map(len, portion.values())) + len(words) > _PORTION:
                yield portion
                portion = {}
            portion[str(number)] = words
    if portion:
        yield portion


def _times(size: Size, claims: int) -> Size:
    """Return the calls, tokens and cost of ``claims`` debates side by side, each of ``size``."""
    cost = None if size.cost is None else claims * size.cost
    return size._replace(calls=claims * size.calls, tokens=claims * size.tokens, cost=cost)
