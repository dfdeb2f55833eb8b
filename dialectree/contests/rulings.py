"""Change the ruling of a judge; the judge is a model or a person."""

from __future__ import annotations

from string import ascii_uppercase
from typing import Any, NamedTuple

from pydantic import JsonValue

from dialectree.answers import letter, match_text
from dialectree.contests.changes import Draft, flags
from dialectree.contests.wishes import Change
from dialectree.errors import InputError
from dialectree.protocols.forms import tidy
from dialectree.protocols.phases import SET_BY_PERSON
from dialectree.protocols.protocol import Phase
from dialectree.records import Node, Override, RunRecord, Turn
from dialectree.records.folder import RunFolder
from dialectree.report import exchange
from dialectree.system.streams import program


def rule(draft: Draft, change: Change) -> None:
    """Replace the verdict of a judge, or one ruling of a jury, by a person's."""
    text, judge_turn = tidy(change.text, "verdict"), draft.turns.get(change.id)
    if judge_turn is None and change.id not in draft.nodes:
        hint = f"{program()} show prints their ids"
        raise InputError(f"{change.flag}: the run has no such node; {hint}")
    node = draft.nodes[change.id if judge_turn is None else judge_turn.node]
    if node.id in draft.rulings:
        _rule_for_person(draft, change, node, text)
        return
    judged = _find_rulings(draft, node, judge_turn)
    if judged is not None and judged.phase.labels is not None:
        _rule_by_label(draft, change, node, text, judged)
    elif judged is not None:
        _rule_by_text(draft, change, node, text, judged)
    elif judge_turn is None and draft.counts(node):
        _rule_counted(draft, change, node, text)
    else:
        knows = flags(draft.phases, "and")
        raise InputError(f"{change.flag}: no judge ruled there; the run supports {knows}")


class _JudgeRulings(NamedTuple):
    """The rulings that a change replaces: those of one judge, or of all who ruled last."""

    phase: Phase
    turns: list[Turn]
    """The rulings of the last round, in order."""
    judge_turn: Turn | None
    """The ruling that the change names, if it names a single judge's."""

    @property
    def protocol(self) -> str:
        """The protocol of the judges; it may be that of a debate inside the run's own debate."""
        return self.turns[0].protocol

    def find_spots(self, draft: Draft) -> dict[str, Turn]:
        """Return the place of each judge's first ruling, by speaker."""
        first = {turn.speaker: turn for turn in reversed(self.turns)}
        return {speaker: draft.own_words(turn) for speaker, turn in first.items()}

    def find_answer(self, draft: Draft, node: Node) -> str:
        """Return the answer before the change."""
        if self.judge_turn is not None:
            return str(self.judge_turn.fields.get("answer", ""))
        verdict = node.verdict or (draft.record.verdict if node.parent is None else None)
        return (verdict.answer if verdict is not None else None) or ""


def _find_rulings(draft: Draft, node: Node, judge_turn: Turn | None) -> _JudgeRulings | None:
    """Return the rulings at ``node`` in its last pass and round, or None if no judge ruled there."""
    judged = [
        (turn, phase)
        for turn in node.transcript
        if (phase := draft.phase_of(turn)) and (phase.labels or phase.ruling)
        if judge_turn is None or (turn.role, turn.speaker) == (judge_turn.role, judge_turn.speaker)
    ]
    last = max((turn.take for turn, _ in judged), default=1)
    judged = [(turn, phase) for turn, phase in judged if turn.take == last]
    if not judged:
        return None
    outer = judged[0][0].protocol  # where an inner debate ruled there, too
    newest, phase = [pair for pair in judged if pair[0].protocol == outer][-1]
    place = (outer, newest.round)
    turns = [turn for turn, its in judged if its is phase and (turn.protocol, turn.round) == place]
    return _JudgeRulings(phase, turns, judge_turn)


def _rule_by_label(draft: Draft, change: Change, node: Node, text: str, judged: _JudgeRulings) -> None:
    """Replace rulings that name a label."""
    phase, spots = judged.phase, judged.find_spots(draft)
    label, answer = _label(draft, change, node, text, judged.protocol, phase)
    silent = [  # the ruling also applies to a judge of several that failed for good
        next(iter(spots.values())).model_copy(update={"speaker": who, "fields": {}})
        for who in draft.judges(judged.protocol, phase)
        if who not in spots and judged.judge_turn is None and phase.judges is not None
    ]
    rulings = {turn.speaker: turn.fields.get("label") for turn in judged.turns}.values()
    ruled = judged.judge_turn is not None or node.verdict is not None
    settled = ruled or label not in labels(draft.record, node)
    if settled and not silent and all(ruling == label for ruling in rulings):
        raise InputError(f"{change.flag}: nothing to change, {label} is the ruling already")
    new_fields = {"label": label, "answer": answer, "confidence": None, "rationale": SET_BY_PERSON}
    _hold(draft, change, node, judged, [*spots.values(), *silent], new_fields, label)


def _rule_by_text(draft: Draft, change: Change, node: Node, text: str, judged: _JudgeRulings) -> None:
    """Replace rulings that give an answer in their own words."""
    earlier = draft.find(change.id, "ruled")
    if text == judged.find_answer(draft, node) or (earlier is not None and text == earlier.after):
        raise InputError(f"{change.flag}: nothing to change, that is the verdict already")
    assert judged.phase.ruling is not None  # else the ruling is a label
    spots = [*judged.find_spots(draft).values()]
    _hold(draft, change, node, judged, spots, judged.phase.ruling(text), text)


def _hold(
    draft: Draft,
    change: Change,
    node: Node,
    judged: _JudgeRulings,
    spots: list[Turn],
    new_fields: dict[str, Any],
    after: str,
) -> None:
    reply = draft.reply(change, judged.turns[-1], new_fields)
    before = judged.find_answer(draft, node)
    draft.hold(Override(id=change.id, what="ruled", spots=spots, reply=reply, before=before, after=after))


def _rule_counted(draft: Draft, change: Change, node: Node, text: str) -> None:
    """Replace a verdict that no judge gave, such as a vote's, by a person's."""
    assert node.verdict is not None  # ``counts`` checked it
    label: str | None = None
    if draft.protocol_of(node).outcome == "choice":
        label, text = _label(draft, change, node, text, node.protocol)
    before = node.verdict.answer
    if text == before:
        raise InputError(f"{change.flag}: nothing to change, that is the verdict already")
    spots = [Turn(node=node.id, phase="", role="", take=node.verdict.take)]
    reply: dict[str, JsonValue] = {"answer": text, "label": label}
    override = Override(id=node.id, what="ruled", spots=spots, reply=reply, before=before, after=text)
    earlier = draft.find(node.id, "ruled")
    if earlier is not None and earlier.before == text:
        draft.take_back(earlier, f"{node.id} restored")
        return
    draft.hold(override)


def _rule_for_person(draft: Draft, change: Change, node: Node, text: str) -> None:
    """Change the ruling of the person who judges, who gives only a label."""
    protocol, phase = draft.phases_at(node, "labels")[0]
    label, _ = _label(draft, change, node, text, protocol, phase)
    if label == draft.rulings[node.id]:
        raise InputError(f"{change.flag}: nothing to change, {label} is the ruling already")
    draft.new_rulings[node.id] = label
    earlier = draft.find(node.id, "ruled")
    before = draft.rulings[node.id] if earlier is None else earlier.before
    spots = [Turn(node=node.id, phase="", role="")]
    draft.hold(Override(id=node.id, what="ruled", spots=spots, before=before, after=label))


def _label(
    draft: Draft, change: Change, node: Node, text: str, protocol: str, phase: Phase | None = None
) -> tuple[str, str]:
    """Return the label that ``text`` is or contains, and the answer of that label."""
    answers_by_label = labels(draft.record, node)
    if phase is not None and phase.labels is not None:
        answers_by_label |= {label: label for label in phase.labels(draft.settings_of(protocol))}
    borne = match_text(text, answers_by_label)
    label = text if text in answers_by_label else borne.pop() if len(borne) == 1 else letter(text)
    if label not in answers_by_label:
        raise InputError(f"{change.flag} {text[:80]!r}: give one of {', '.join(sorted(answers_by_label))}")
    return label, answers_by_label[label]


def labels(record: RunRecord, node: Node) -> dict[str, str]:
    """Return the possible answers at ``node``, by the labels that its judge knows.

    These are the answers that two sides debated there last, or else the options of the debate.
    """
    debates = exchange.exchanges(record, node)
    sides = debates[-1].sides if debates else []
    if debated := {side.letter: side.answer for side in sides if side.letter}:
        return debated
    nodes = record.tree.nodes
    while node.parent in nodes and nodes[node.parent].protocol == node.protocol:
        node = nodes[node.parent]
    options = node.data.get("options") if node.protocol else record.input.get("options")
    texts = options if isinstance(options, list) else []
    return dict(zip(ascii_uppercase, map(str, texts), strict=False))


def _rests_on(draft: Draft, debate: str, changed: str) -> bool:
    """Return whether the ruling of ``debate`` may depend on a change at ``changed``.

    Rulings of later rounds depend on the change: the winner of a round takes part in the next round.
    """
    nodes = draft.nodes
    if debate == changed or debate not in nodes or changed not in nodes:
        return debate == changed
    return nodes[debate].round > nodes[changed].round


def rulings_of_person(folder: RunFolder) -> dict[str, str]:
    """Return the rulings of the person who judges, by node."""
    return {
        event.node: str(event.data["answer"])
        for event in folder.events()
        if event.kind == "answered" and event.data.get("of") == "judge"
    }


def forget_rulings(draft: Draft, *, person: bool) -> None:
    """Forget the overrides of a person's rulings that the person has to give again.

    A ruling stays valid if its debate, and the debates that it depends on, are unchanged. Raises
    InputError if the person has to rule again and ``person`` is False.
    """
    for node in draft.rulings:
        if node in draft.new_rulings or not any(
            _rests_on(draft, node, changed) for changed in draft.list_changed_nodes()
        ):
            continue
        draft.overrides.pop((node, "", "ruled"), None)
        asked_again = draft.find(node, "out") is None and not draft.may_be_settled()
        if asked_again and not person:
            raise InputError("`judge` me: a person must rule again, but this program asks nobody")
