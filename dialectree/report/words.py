"""Make texts safe to show, numbers readable and names plain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pydantic import JsonValue

from dialectree.protocols.protocol import Outcome, View, installed, title
from dialectree.records import Call, Failure, Node, RunRecord, Stance, Turn, Verdict, turns
from dialectree.text import (
    clean,
    count,
    duration,
    figure,
    label,
    line,
    listed,
    moment,
    money,
    move,
    share,
)

__all__ = ["clean", "count", "duration", "figure", "label", "line", "listed", "moment", "money"]
__all__ += ["move", "share"]

stage = label


def method(record: RunRecord) -> str:
    """Return the protocol in full, and the method where it is another one."""
    return title(record.protocol, record.method)


def banners(record: RunRecord) -> list[tuple[str, str]]:
    """Return what a reader has to know of a run's answer at once: a title, and what it means."""
    demonstration = (
        "A model below 1 billion parameters answers at chance; this shows how the program works, "
        "not what is true."
    )
    illustration = (
        "Replies here were written by hand, not by a model; they show what a debate looks like. "
        "Their tokens are estimated from the texts, and their time was not measured."
    )
    banners: list[tuple[str, str]] = []
    if record.demonstration:
        banners.append(("A demonstration.", demonstration))
    if record.illustration:
        banners.append(("An illustration.", illustration))
    return banners


def outcome_of(record: RunRecord) -> Outcome:
    """Return what a run is to come to, by its protocol's declaration."""
    declared = installed().get(record.protocol)
    return declared.outcome if declared else "answer"


def view_of(record: RunRecord) -> View:
    """Return how a run's debate is shown, by its protocol's declaration."""
    declared = installed().get(record.protocol)
    return declared.view if declared else "rounds"


def unit(record: RunRecord) -> str:
    """Return what one place of the tree is called."""
    declared = installed().get(record.protocol)
    return declared.unit if declared else "part"


def census(record: RunRecord) -> str:
    """Return what the tree holds: ``7 questions``, ``1 claim and 4 arguments``."""
    nodes = record.tree.nodes.values()
    general = ("open", "branch", "leaf")
    kinds = Counter(
        unit(record) if node.kind in general else node.kind
        for node in nodes
        if node.kind != "knockout"
    )
    parts = [count(number, kind) for kind, number in kinds.items()]
    return listed(parts) or "nothing yet"


SIGNS = (
    "τ: how strong an argument is by itself; θ: what its comparisons make of it; "
    "τ′: both blended; s: its strength with the arguments below it; "
    "P: the probability of the claim."
)


def legend(record: RunRecord) -> str:
    """Return what stands beside each node of the tree."""
    if outcome_of(record) == "probability":
        return "each with its strength, 0 to 1; of a claim the probability that it is true."
    if outcome_of(record) == "comparison":
        return "each with the last word of either paper."
    root = record.tree.nodes.get(record.tree.root)
    if root is not None and root.kind == "knockout":
        return "round by round; the winners meet until one option is left."
    if any(node.kind == "argument" for node in record.tree.nodes.values()):
        return "each with the confidence of its verdict; of an argument its strength, 0 to 1."
    return "each with the confidence of its verdict."


def heading(record: RunRecord) -> str:
    """Return the heading above the details of the nodes."""
    if outcome_of(record) == "probability" and len(record.tree.nodes) > 1:
        return "Claim and arguments"
    if outcome_of(record) == "comparison":
        topics = any(node.kind == "topic" for node in record.tree.nodes.values())
        return "The topics" if topics else "The replies"
    if len(record.tree.nodes) > 1:
        return "The debates"
    stages = {turn.phase for node in record.tree.nodes.values() for turn in node.transcript}
    return "The answers" if stages and stages <= {"direct", "answer"} else "The debate"


def probable(verdict: Verdict | None) -> bool:
    """Return whether the verdict's figure is the probability of a claim, not a confidence."""
    return verdict is not None and verdict.probable


def asserts(record: RunRecord) -> bool:
    """Return whether there is an answer with a confidence. A comparison has none."""
    verdict = record.verdict
    answered = verdict is not None and verdict.answer is not None
    return answered and not probable(verdict) and outcome_of(record) != "comparison"


def likely(probability: float) -> str:
    """Return what the probability of a claim means."""
    if probability == 0.5:
        return "as likely true as false"
    more, less = ("true", "false") if probability > 0.5 else ("false", "true")
    return f"more likely {more} than {less}"


def headline(verdict: Verdict) -> str:
    """``B: oxygen``; of a claim ``P(claim) 0.73: more likely true than false``; empty if none."""
    if verdict.confidence is not None and probable(verdict):
        return f"P(claim) {figure(verdict.confidence)}: {likely(verdict.confidence)}"
    parts = dict.fromkeys(part for part in (verdict.label, verdict.answer) if part)
    return ": ".join(parts)


def confidence(verdict: Verdict) -> str:
    """``Confidence 0.64 · source: judges``."""
    known = verdict.confidence is not None
    source = f" · source: {verdict.confidence_source or 'unknown'}" if known else ""
    return f"Confidence {share(verdict.confidence)}{source}"


def basis(record: RunRecord) -> str:
    """``Rests on 7 questions with 30 turns, debated at 0.0, 0.1.0 and 0.1.1.``"""
    nodes = record.tree.nodes
    spoken = count(sum(len(node.transcript) for node in nodes.values()), "turn")
    root = nodes.get(record.tree.root)
    places = [] if root is None or root.provenance == [root.id] else root.provenance
    debated = f", debated at {listed(places)}" if places else ""
    return f"Rests on {census(record)} with {spoken}{debated}."


_STANCES: dict[Stance, str] = {"support": "supports", "attack": "attacks"}
_MARKS: dict[Stance, str] = {"support": "✓", "attack": "✗"}


def stance(taken: Stance) -> str:
    """``✓ supports``, ``✗ attacks``: marks that differ without colour."""
    return f"{_MARKS[taken]} {_STANCES[taken]}"


def declined(side: Stance) -> str:
    """Say that one side has no (further) argument."""
    role, way = ("supporter", "for") if side == "support" else ("attacker", "against")
    return f"The {role} declined: it has no (further) honest argument {way} this."


def declined_sides(node: Node) -> list[Stance]:
    """Return the sides that have no (further) argument."""
    sides = node.data.get("declined")
    known: tuple[Stance, Stance] = ("support", "attack")
    return [side for side in known if isinstance(sides, dict) and side in sides]


_WHYS = {
    "max_depth": "the depth limit was reached",
    "node_budget": "its share of the node budget is too small for two parts",
    "decomposer_stop": "the decomposer found nothing to split",
    "too_few_children": "the split had fewer than two parts",
    "below_threshold": "every part was rated easy",
    "clarify": "the question lacks something essential",
    "failed": "the split failed",
    "clear_winner": "one paper has clearly won",
    "no_progress": "the debate got no further",
    "one_topic": "this method debates all in one",
}


def why(stopped: str) -> str:
    """Return why expansion stopped at a node, in words."""
    return _WHYS.get(stopped, stopped.replace("_", " "))


_UNNAMED = ("swapped", "same_answer", "distractor")
"""Names of a purpose, not of a speaker."""


def speaker(speaking: Turn | Call, node: Node | None = None) -> str:
    """``Leaf debater A``, ``Leaf judge``, ``Pairwise judge, 0.0 against 0.1``.

    A debater of a role-switching debate at ``node`` is called by the label that it defends.
    """
    role, who = label(speaking.role), turns.speaker(node, speaking)
    if who == speaking.role:
        return role
    if speaking.role == "pairwise_judge":
        return f"{role}, {who.replace(':', ' against ')}"
    if who in _UNNAMED:
        purpose = "reading the sides swapped" if who == "swapped" else label(who).lower()
        return f"{role}, {purpose}"
    if speaking.phase == "direct":
        return f"Direct answer {who}"
    return f"{role} {who}"


def question(record: RunRecord) -> str:
    """Return the question of a run in the user's own words."""
    for name in ("question", "claim", "topic"):
        if isinstance(text := record.input.get(name), str):
            return text
    root = record.tree.nodes.get(record.tree.root)
    return root.text if root else record.run_id


def two_line_summary(record: RunRecord) -> str:
    """Return what was asked, what came of it and what it took, for a program or a log."""
    verdict = record.verdict
    answer = pending(record) if verdict is None else line(verdict.answer or "no answer", 90)
    parts = [answer, *([measure(record)] if measure(record) else []), *sums(record)]
    asked = line(question(record), 90)
    return f"{record.run_id} ({record.method}, {record.status}): {asked}\n  {' · '.join(parts)}"


def gist(turn: Turn) -> str:
    """Return the longest text of a turn, which says most of it."""
    return max(_texts(turn.fields), key=len, default="")


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield every text in a reply."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def measure(record: RunRecord) -> str:
    """``confidence 0.72``, ``probability 0.20``; empty where the verdict has none."""
    verdict = record.verdict
    if verdict is None or verdict.confidence is None:
        return ""
    if verdict.probable:
        return f"probability {figure(verdict.confidence)}"
    return f"confidence {figure(verdict.confidence)}" if asserts(record) else ""


def sums(record: RunRecord) -> list[str]:
    """``9 calls (3 from the reply cache)``, ``3,210 tokens``, ``12 s``, and the cost if known."""
    usage = record.usage
    calls = count(usage.calls, "call")
    if usage.calls_from_cache:
        calls += f" ({usage.calls_from_cache:,} from the reply cache)"
    tokens = count(usage.prompt_tokens + usage.completion_tokens, "token")
    cost = [] if usage.cost is None else [f"cost {money(usage.cost)}"]
    return [calls, tokens, duration(usage.wall_s), *cost]


def failed(failure: Failure) -> str:
    """Return one failure in words."""
    who = f" {failure.speaker}" if failure.speaker not in ("", failure.role) else ""
    return f"{label(failure.role)}{who} failed: {failure.fault}"


def state(record: RunRecord) -> str:
    """Return the state of a run in one sentence."""
    broken, thing = len(record.degraded()), outcome(record)
    match record.status:
        case "answered":
            return "No part of the debate failed."
        case "degraded" if not broken:
            return f"There is {thing}, but {count(len(unanswered(record)), 'part')} had none."
        case "degraded":
            return f"There is {thing}, but {count(broken, 'part')} of the debate failed for good."
        case "unresolved":
            return f"The debate ended without {thing}."
        case "partial":
            folder = f"where RUN is the path of the folder {record.run_id}"
            return f"Broken off before the end. It goes on with: dialectree resume RUN, {folder}."
        case "running":
            return "Still under way, or stopped without notice; this is what was known."


def outcome(record: RunRecord) -> str:
    """Return what a run is to come to, in words."""
    return "a comparison" if outcome_of(record) == "comparison" else "an answer"


def heading_of_verdict(record: RunRecord) -> str:
    """Return what the outcome is called."""
    return "Comparison" if outcome_of(record) == "comparison" else "Verdict"


def pending(record: RunRecord) -> str:
    """``There is no verdict yet.``"""
    return f"There is no {heading_of_verdict(record).lower()} yet."


def unresolved(record: RunRecord) -> str:
    """Say that there is no answer, and why if that is known."""
    why_not = _what_failed(record) if _notes_are_gaps(record) else _first_note(record)
    reason = f": {why_not.rstrip('.')}" if why_not else ""
    text = f"The debate ended without {outcome(record)}{reason}."
    if not (lacking := _without_strength(record)):
        return text
    settings = " ".join(f"--set {name}=STRENGTH" for name in lacking)
    return f"{text} With a strength of your own: dialectree contest {record.run_id} {settings}"


def _notes_are_gaps(record: RunRecord) -> bool:
    """Return whether a verdict's notes say what the question leaves open, not why it failed."""
    return view_of(record) == "tree"


def _first_note(record: RunRecord) -> str:
    """Return the first note of a verdict: without an answer it says why there is none."""
    return next(iter(record.verdict.notes if record.verdict else []), "")


def _what_failed(record: RunRecord) -> str:
    broken = [failed(failure) for _, failure in record.degraded()]
    if not broken:
        return _what_was_left_open(record)
    if len(broken) == 1:
        return broken[0]
    return f"{len(broken)} parts failed for good; of the first, {broken[0]}"


def _what_was_left_open(record: RunRecord) -> str:
    """Return the notes of the first leaf whose debate came to no answer."""
    leaves = [n for name in unanswered(record) if not (n := record.tree.nodes[name]).children]
    noted = ["; ".join(leaf.notes) for leaf in leaves if leaf.notes]
    if len(noted) < 2:
        return "".join(noted)
    return f"{len(noted)} parts had none; of the first, {noted[0]}"


def _without_strength(record: RunRecord) -> list[str]:
    """Return the claims and arguments that lack a strength. A contest can set one."""
    nodes = record.tree.nodes
    if outcome_of(record) != "probability" or not any(
        node.kind == "argument" for node in nodes.values()
    ):
        return []
    claims = [
        node
        for node in nodes.values()
        if node.kind == "claim" and not any(nodes[name].kind == "claim" for name in node.children)
    ]
    below = [nodes[name] for claim in claims for name in claim.children]
    return [
        node.id for node in [*claims, *below] if node.score("blended") is None and not node.dropped
    ]


def notes(record: RunRecord) -> list[str]:
    """Return the notes on the verdict, without one that says why there is no answer."""
    verdict = record.verdict
    if verdict is None:
        return []
    explained = verdict.answer is None and record.status not in ("running", "partial")
    return verdict.notes[1:] if explained and not _notes_are_gaps(record) else verdict.notes


def waiting(record: RunRecord) -> list[str]:
    """Return the ids of the nodes without a verdict yet. The topic of a comparison needs none."""
    nodes = record.tree.nodes.values()
    return [
        node.id
        for node in nodes
        if node.status == "open" and not (node.kind == "topic" and node.parent is None)
    ]


def waiting_for(record: RunRecord) -> str:
    """Return what the nodes lack that are :func:`waiting`."""
    words = {"probability": "Not weighed yet", "comparison": "Not debated yet"}
    return words.get(outcome_of(record), "Without a verdict yet")


def given_up(record: RunRecord) -> str:
    """Return what the :func:`unanswered` nodes never got."""
    words = {"probability": "Without a strength", "comparison": "Without an argument"}
    return words.get(outcome_of(record), "Given up without a verdict")


def unanswered(record: RunRecord) -> list[str]:
    """Return the ids of the nodes that were given up without a verdict."""
    nodes = record.tree.nodes.values()
    return [node.id for node in nodes if node.status == "missing" and not node.dropped]


_SIDES = {"SPAN": "the answer that it finds best", "OTHER": "the strongest other answer"}


def side(name: str) -> str:
    """Return what a speaker has to defend, in words."""
    return _SIDES.get(name, name)


def task(turn: Turn) -> str:
    """Return the task that a speaker was assigned: ``defends YES``."""
    if not turn.side or turn.side in _STANCES:
        return ""
    verb = "speaks for its opponent's answer:" if turn.phase == "role_switch" else "defends"
    return f"{verb} {side(turn.side)}"
