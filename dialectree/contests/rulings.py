"""Change what a judge ruled, a model or a person."""

from __future__ import annotations

from dialectree.answers import letter
from dialectree.contests.draft import Draft
from dialectree.errors import InputError
from dialectree.protocols.protocol import Phase
from dialectree.protocols.user_input import tidy
from dialectree.records import Event, Node, Override, RunRecord, Turn, path_key, topic_of
from dialectree.records.folder import RunFolder
from dialectree.report import exchange
from dialectree.report.words import outcome_of
from dialectree.system.streams import program

_REASON = "A person set this verdict."


def rule(draft: Draft, name: str, text: str) -> None:
    """Put a person's verdict in the place of a judge's."""
    flag = f"--verdict {name}"
    if name not in draft.record.tree.nodes:
        raise InputError(f"{flag}: the run has no such node; {program()} show prints their ids")
    node, text = draft.record.tree.nodes[name], tidy(text, "verdict")
    if name in draft.rulings:
        _rule_for_person(draft, node, text, flag)
        return
    judged = [(turn, phase) for turn in node.transcript if (phase := _ruling(draft, turn))]
    last = max((turn.take for turn, _ in judged), default=1)
    judged = [(turn, phase) for turn, phase in judged if turn.take == last]
    if not judged:
        raise InputError(f"{flag}: no judge has ruled there{_instead(draft, node)}")
    first = {turn.speaker: turn for turn, _ in reversed(judged)}
    turn, phase = judged[0]
    spots = [draft.spot(one) for one in first.values()]
    if phase.labels is not None:
        label, answer = _label(draft, node, text, flag, phase)
        silent = _silent(draft, phase, spots)
        rulings = {turn.speaker: turn.fields.get("label") for turn, _ in judged}.values()
        settled = node.verdict is not None or label not in labels(draft.record, node)
        if settled and not silent and all(ruling == label for ruling in rulings):
            raise InputError(f"{flag}: nothing to change, {label} is the ruling already")
        change = {"label": label, "answer": answer, "confidence": None, "rationale": _REASON}
        text, spots = label, [*spots, *silent]
    else:
        own = " ".join(one.text for one in topic_of(node).sentences if one.part != "proposal")
        if text in (_answer(draft, node), own):  # the program marks sentences in the verdict
            raise InputError(f"{flag}: nothing to change, that is the verdict already")
        assert phase.ruling is not None  # else the ruling is a label
        change = phase.ruling(text)
    reply = draft.changed(flag, turn, change)
    before = _answer(draft, node)
    draft.hold(Override(id=name, what="ruled", spots=spots, reply=reply, before=before, after=text))


def _ruling(draft: Draft, turn: Turn) -> Phase | None:
    """Return the phase of ``turn`` if its role has the last word at a node there."""
    phase = draft.phase(turn)
    return phase if phase is not None and (phase.labels or phase.ruling) else None


def _instead(draft: Draft, node: Node) -> str:
    if outcome_of(draft.record) == "comparison":
        return "; --verdict 0 sets the comparison, --replace changes an argument"
    if node.kind == "claim":
        return "; --set, --drop, --flip and --void change what it is reckoned from"
    return ""


def _answer(draft: Draft, node: Node) -> str:
    """Return the verdict of a node; of a comparison that of the run."""
    if node.verdict is not None:
        return node.verdict.answer or ""
    compares = outcome_of(draft.record) == "comparison" and draft.record.verdict is not None
    verdict = draft.record.verdict if compares else None
    return (verdict.answer or "") if verdict is not None else ""


def labels(record: RunRecord, node: Node) -> dict[str, str]:
    """Return the answers that were debated last at ``node``, by the labels that its judge knows."""
    debates = exchange.exchanges(record, node)
    sides = debates[-1].sides if debates else []
    return {side.letter: side.answer for side in sides if side.letter}


def _label(draft: Draft, node: Node, text: str, flag: str, phase: Phase) -> tuple[str, str]:
    """Return the label that ``text`` is, and the answer that bears it."""
    known = labels(draft.record, node)
    if phase.labels is not None:
        known |= {label: label for label in phase.labels(draft.settings_of(phase))}
    label = text if text in known else letter(text)
    if label not in known:
        raise InputError(f"{flag} {text[:80]!r}: give one of {', '.join(sorted(known))}")
    return label, known[label]


def _silent(draft: Draft, phase: Phase, spots: list[Turn]) -> list[Turn]:
    """Return where one of several judges failed for good: a person's ruling holds there as well."""
    judges = phase.judges(draft.settings_of(phase)) if phase.judges is not None else ()
    missing = [who for who in judges if who not in {spot.speaker for spot in spots}]
    return [spots[0].model_copy(update={"speaker": who, "fields": {}}) for who in missing]


# A person as the judge


def _rule_for_person(draft: Draft, node: Node, text: str, flag: str) -> None:
    """Change the ruling of the person who judges, who gives a label and no more."""
    phase = next(phase for phase in draft.phases if phase.labels is not None)
    label, _ = _label(draft, node, text, flag, phase)
    if label == draft.rulings[node.id]:
        raise InputError(f"{flag}: nothing to change, {label} is the ruling already")
    draft.new_rulings[node.id] = label
    earlier = draft.find(node.id, "ruled")
    before = draft.rulings[node.id] if earlier is None else earlier.before
    spots = [Turn(node=node.id, phase="", role="")]
    draft.hold(Override(id=node.id, what="ruled", spots=spots, before=before, after=label))


def rulings_of_person(folder: RunFolder) -> dict[str, str]:
    """Return what the person who judges ruled, by node."""
    return {event.node: str(event.data["answer"]) for event in folder.events() if _ruled(event)}


def forget_rulings(folder: RunFolder, draft: Draft, *, person: bool) -> None:
    """Forget what was put in the place of a person's rulings that the person gives anew.

    A ruling holds where nothing was changed in the debate, nor in one that it rests on. InputError
    if the person has to rule again and no ``person`` is there.
    """
    for node in rulings_of_person(folder):
        if node in draft.new_rulings or not any(_rests_on(node, n, draft) for n in draft.touched):
            continue
        draft.overrides.pop((node, "", "ruled"), None)
        asked_again = draft.find(node, "out") is None and not draft.direct_answers_alone
        if asked_again and not person:
            raise InputError("--judge me: nobody is there to rule")


def _ruled(event: Event) -> bool:
    return event.kind == "answered" and event.data.get("of") == "judge"


def _rests_on(debate: str, changed: str, draft: Draft) -> bool:
    """Return whether the ruling of ``debate`` may depend on what is said at ``changed``."""
    if outcome_of(draft.record) == "choice":  # a knockout's winner goes into its next debate
        return path_key(debate) >= path_key(changed)
    return debate == changed
