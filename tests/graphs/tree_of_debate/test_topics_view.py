"""How a comparison of two papers is shown: its summary, topics and evidence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dialectree.graphs.tree_of_debate import topics
from dialectree.records import Failure, Node, RunRecord, Verdict
from dialectree.report.node_data import topic_of
from dialectree.report.verdicts import verdict_text
from tests.graphs.tree_of_debate import comparing
from tests.report.recorded import REPORTS, Shown, flat, prefix, record

both = pytest.mark.parametrize("shown", REPORTS.values(), ids=REPORTS)


def change(node: Node, **update: object) -> None:
    """Put other data into a topic."""
    node.data |= topic_of(node).model_copy(update=update).model_dump(mode="json")


def tod(change: Callable[[RunRecord], object]) -> RunRecord:
    run = record("tod")
    change(run)
    return run


def marked(run: RunRecord) -> None:
    root = run.tree.nodes["0"]
    sentences = topic_of(root).sentences
    sentences[1].faults = ["rests on nothing", "the quotation does not occur"]
    change(root, sentences=sentences)


def one_sided(run: RunRecord) -> None:
    node = run.tree.nodes["0.0"]
    change(node, positions=[one for one in topic_of(node).positions if one.paper == "b"])
    node.failures = [Failure(role="persona", speaker="a", fault="no reply came")]


def without_argument(run: RunRecord) -> None:
    node = run.tree.nodes["0.1"]
    change(node, positions=[])
    node.status = "missing"


def unsummarised(run: RunRecord) -> None:
    run.verdict, run.status = Verdict(), "unresolved"
    change(run.tree.nodes["0"], sentences=[])


def ruled_by_a_person(run: RunRecord) -> None:
    assert run.verdict is not None
    run.verdict.answer = "A person says: they are much alike."


def baseline(run: RunRecord) -> None:
    run.method = "two_stage"
    run.get_declaration("").method = "a summary of each paper, then a comparison, without debate"
    run.verdict = Verdict(answer="Both are fast.", rationale="Only b has bounds.")
    root = run.tree.nodes["0"]
    root.kind, root.data, root.children = "leaf", {}, []
    root.verdict = Verdict(answer="Both are fast.")
    run.tree.nodes = {"0": root}


def amended(run: RunRecord) -> None:
    run.tree.segments["a:4"].contested = True


FACTS: dict[str, tuple[RunRecord, str]] = {
    "what was recorded": (
        record("tod"),
        "suggested in the debate, claimed by neither"
        " | b concedes | neither concedes | split into 2 topics | the depth limit was reached"
        " | present | respond | revise | evidence | paper a: trucks by night | ~confidence",
    ),
    "a faulty sentence": (tod(marked), "[marked: rests on nothing; the quotation does not occur]"),
    "a missing argument": (tod(one_sided), "only b argues | persona a failed: no reply came"),
    "no argument at all": (tod(without_argument), "no argument"),
    "no summary": (tod(unsummarised), "the debate ended without a comparison"),
    "a person's verdict": (tod(ruled_by_a_person), "a person says: they are much alike."),
    "a baseline": (
        tod(baseline),
        "both are fast. | only b has bounds. | a summary of each paper, then a comparison | ~confidence",
    ),
    "a person's words": (tod(amended), "in a person's words, not the paper's"),
    "a run that was broken off": (prefix("tod", 9), "there is no comparison yet."),
}


@both
@pytest.mark.parametrize(("run", "phrases"), FACTS.values(), ids=FACTS.keys())
def test_a_report_says(shown: Shown, run: RunRecord, phrases: str) -> None:
    """A phrase after a tilde must not be there. No comparison has a confidence."""
    said = shown(run)
    wanted = {phrase.lstrip("~"): phrase[0] != "~" for phrase in phrases.split(" | ")}
    assert {p: there for p, there in wanted.items() if (p in said) is not there} == {}
    assert "not determined" not in said


def test_plain_text_holds_sentences_with_references_and_faults() -> None:
    paragraphs = verdict_text(tod(marked)).split("\n\n")
    assert (
        paragraphs[1].endswith("[marked: rests on nothing; the quotation does not occur]")
        and "[0.0, 0.1; a:4, b:3, b:4]" in paragraphs[1]
    )
    assert paragraphs[3].startswith(f"{topics.PROPOSED}:\n- ")
    assert paragraphs[4].startswith("Paper a: Trucks by Night") and "\nPaper b: R" in paragraphs[4]


def test_the_appendix_holds_what_is_cited_in_the_order_of_the_papers() -> None:
    run = record("tod")
    found = [segment.id for segment in topics.find_cited(run)]
    assert found == sorted(found) and {"a:4", "b:3"} <= {*found} < run.tree.segments.keys()


@both
def test_what_the_protocol_makes_is_shown(shown: Shown) -> None:
    done = comparing.compare(comparing.personas(), max_depth=2)
    papers = [comparing.PAPER_A, comparing.PAPER_B]
    run = record("tod").model_copy(
        update={
            "tree": done.tree,
            "verdict": done.verdict,
            "input": {"question": comparing.TOPIC, "papers": papers},
        }
    )
    said = shown(run)
    assert all(flat(str(paper["title"])) in said for paper in papers)
    assert "part 0 of 0.0" in said and "they differ." in said
    assert "confidence" not in said and "conceded at" not in said
