"""The turns of a debate by name, and which of a turn's words are its text.

Whoever shows a run prints the names; whoever contests it says one of them.
"""

from __future__ import annotations

from typing import NamedTuple

from dialectree.records import Call, Node, Turn

WITHDRAWN = "[withdrawn: this turn counts for nobody]"
"""What debaters and judge read in the place of a turn that a person dropped."""


class Words(NamedTuple):
    """What a person may change of a turn."""

    texts: tuple[str, ...]
    """The fields that can be replaced; the first one is the text of the turn."""
    left_out: bool = False
    """True where the debate can do without the turn, as where its speaker fails for good."""
    withdrawn: dict[str, str | list[str]] | None = None
    """What a turn says that was dropped, where the debate cannot do without one."""
    switches: tuple[str, ...] = ()
    """The fields that can be set to yes or no."""


_SPEAKERS = {
    "leaf_debater": Words(
        ("support", "claim", "rebuttal"),
        withdrawn={"claim": WITHDRAWN, "support": "–", "rebuttal": "–"},
    ),
    "leaf_judge": Words(("answer", "rationale")),
    "synthesis_debater": Words(("integration", "assumptions"), left_out=True),
    "synthesis_judge": Words(("answer", "rationale")),
    "answer_writer": Words(("final_answer", "explanation"), left_out=True),
    "debater/proposals": Words(("argument",), withdrawn={"argument": WITHDRAWN}),
    "debater/cross_examination": Words(
        ("defence",), withdrawn={"errors": [], "defence": WITHDRAWN}
    ),
    "debater/role_switch": Words(("argument",), withdrawn={"argument": WITHDRAWN}),
    "debater/uncertainty": Words(("unsure_of", "would_settle"), left_out=True),
    "judge/judgment": Words(("rationale",)),
    "debater_a/direct": Words(("reasoning",), left_out=True),
    "answerer/direct": Words(("reasoning",), left_out=True),
    "answerer": Words(("answer", "explanation")),
    "sampler": Words(("answer", "explanation"), left_out=True),
    "explorer": Words(("answer",)),
    "critic": Words(("critique",)),
    "synthesiser": Words(("answer", "explanation")),
    "persona/present": Words(("description", "title"), left_out=True, switches=("concedes",)),
    "persona/respond": Words(("description",), left_out=True, switches=("concedes",)),
    "persona/revise": Words(("description", "title"), left_out=True, switches=("concedes",)),
    "summariser": Words(("summary",), withdrawn={"summary": WITHDRAWN}),
    "comparer": Words(("summary",)),
}
"""By role, or by role and stage where a role speaks in more than one form."""


def words(turn: Turn) -> Words | None:
    """What may be changed of ``turn``; None where its reply is no text, such as a split."""
    return _SPEAKERS.get(f"{turn.role}/{turn.stage}") or _SPEAKERS.get(turn.role)


_BY_STAGE = ("persona",)
"""Roles whose turns are told apart by their stage."""


def labels(node: Node, take: int) -> dict[str, str]:
    """Return the label that each debater of a role-switching debate defends, by ``Turn.who``.

    Empty where both proposed the same and no debate came of it: then no label tells them apart.
    """
    found = {
        turn.who: turn.label or turn.names
        for turn in node.transcript
        if turn.role == "debater" and turn.take == take and turn.stage != "role_switch"
    }
    known = {who: label for who, label in found.items() if label}
    return known if len({*known.values()}) == len(known) else {}


def speaker(node: Node | None, speaking: Turn | Call) -> str:
    """Return the name of who speaks at ``node``; a debater is called by the label it defends."""
    who = speaking.who or speaking.role
    if node is None or speaking.role != "debater":
        return who
    return labels(node, speaking.take).get(who, who)


def name(node: Node, turn: Turn) -> str:
    """``0.1/A2``: what debater A said in round 2 at node 0.1; ``0.1/A2@2``: in a second pass."""
    stage = f"/{turn.stage}" if turn.role in _BY_STAGE else ""
    again = f"@{turn.take}" if turn.take > 1 else ""
    return f"{node.id}/{speaker(node, turn)}{turn.round or ''}{stage}{again}"


def printed(node: Node, turn: Turn) -> str:
    """The name of ``turn`` where a person can contest it; else nothing."""
    return name(node, turn) if words(turn) is not None and turn.who != "distractor" else ""
