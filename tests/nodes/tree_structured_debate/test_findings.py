"""How findings are merged on their way up."""

from dialectree.nodes.tree_structured_debate.answer_writer import highlights
from dialectree.nodes.tree_structured_debate.state import Finding, merge_findings, standing


def finding(
    node: str, answer: str | None = "so", confidence: float | None = 0.5, take: int = 1
) -> Finding:
    return {
        "id": node,
        "question": f"what of {node}?",
        "answer": answer,
        "rationale": "Because.",
        "confidence": confidence,
        "leaves": [node] if answer else [],
        "unclear": [],
        "take": take,
        "side": None,
    }


def test_findings_stand_in_the_order_of_the_tree_whoever_came_first() -> None:
    ids = ["0.10", "0.2", "0.0", "0.1.5"]
    merged = merge_findings([finding("0.3")], [finding(i) for i in ids])
    assert [f["id"] for f in merged] == ["0.0", "0.1.5", "0.2", "0.3", "0.10"]


def test_a_newer_answer_replaces_an_older_one_but_no_answer_replaces_none() -> None:
    old, new, none = finding("0"), finding("0", "else", take=2), finding("0", None, take=2)
    assert standing(old, new) == new
    assert standing(old, none) == old
    assert standing(finding("0", None), none) == none
    assert merge_findings([old], [none]) == [old]
    assert merge_findings([old], [new]) == [new]
    assert merge_findings([], [none]) == [none]


def test_the_writer_is_shown_the_surest_branches_first_and_none_without_an_answer() -> None:
    found = [
        finding("0.0", confidence=0.2),
        finding("0.1", None, None),
        finding("0.2", confidence=None),
        finding("0.3", confidence=0.9),
        finding("0.4", confidence=0.3),
    ]
    shown = highlights(finding("0"), found)
    assert shown == ["what of 0.3? so", "what of 0.4? so", "what of 0.0? so"]


def test_the_writer_is_shown_the_judges_reasons_where_there_are_no_branches() -> None:
    assert highlights(finding("0"), []) == ["Because."]
