"""How a comparison of two papers is shown: its summary, table, topics, claims and evidence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dialectree.graphs.tree_of_debate import topics
from dialectree.records import (
    Claim,
    Failure,
    Letter,
    Node,
    RunRecord,
    Topic,
    Tree,
    Turn,
    Verdict,
    topic_of,
)
from dialectree.report import markdown
from dialectree.report.verdicts import verdict_text
from tests.graphs.tree_of_debate import comparing
from tests.report.recorded import REPORTS, Shown, anchors, flat, prefix, read, record

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
    run.of("").method = "a summary of each paper, then a comparison, without debate"
    run.verdict = Verdict(answer="Both are fast.", rationale="Only b has bounds.")
    root = run.tree.nodes["0"]
    root.kind, root.data, root.children = "leaf", {}, []
    root.verdict = Verdict(answer="Both are fast.")
    run.tree.nodes = {"0": root}


def raised(run: RunRecord) -> None:
    change(run.tree.nodes["0.0"], raised_by=["What of the worst case then?"])


def amended(run: RunRecord) -> None:
    run.tree.segments["a:4"].contested = True


def unheard(run: RunRecord) -> None:
    counter = topic_of(run.tree.nodes["0"]).counter
    counter["a1"] = []
    counter.pop("a2")
    change(run.tree.nodes["0"], counter=counter)


FACTS: dict[str, tuple[RunRecord, str]] = {
    "what was recorded": (
        record("tod"),
        "what they share | what sets them apart | suggested in the debate, claimed by neither"
        " | b concedes | neither concedes | split into 2 topics | the depth limit was reached"
        " | present | respond | revise | 4 segments cited | refutes and clarifies | ~confidence",
    ),
    "a faulty sentence": (
        tod(marked),
        "1 of 8 sentences is marked | rests on nothing | the quotation does not occur",
    ),
    "a missing argument": (
        tod(one_sided),
        "its argument failed for good. | only b argues | persona a failed: no reply came",
    ),
    "no argument at all": (tod(without_argument), "no argument"),
    "no summary": (tod(unsummarised), "the debate ended without a comparison"),
    "a person's verdict": (
        tod(ruled_by_a_person),
        "a person says: they are much alike. | ~what sets them apart",
    ),
    "a baseline": (
        tod(baseline),
        "both are fast. | only b has bounds. | a summary of each paper, then a comparison"
        " | ~contributions | ~confidence",
    ),
    "the question that led to a topic": (tod(raised), "raised by | what of the worst case then?"),
    "a person's words": (tod(amended), "in a person's words, not the paper's."),
    "what nobody looked at": (
        tod(unheard),
        "b does not address it | not known whether b addresses it",
    ),
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
    places, links = anchors(markdown(run, []))
    assert links <= places


def test_a_sentence_leads_to_its_topic_and_its_evidence_and_back() -> None:
    assert {"segment-a-4", "node-0.0", "claim-0-a1"} <= anchors(markdown(record("tod"), []))[1]
    text = " ".join(read(markdown(record("tod"), []))[1].split())
    assert "in its simulation. [0.0; a:4]" in text


def test_plain_text_holds_sentences_with_references_and_faults() -> None:
    paragraphs = verdict_text(tod(marked)).split("\n\n")
    assert (
        paragraphs[1].endswith("[marked: rests on nothing; the quotation does not occur]")
        and "[0.0, 0.1; a:4, b:3, b:4]" in paragraphs[1]
    )
    assert paragraphs[3].startswith(f"{topics.PROPOSED}:\n- ")
    assert paragraphs[4].startswith("a: Trucks by Night") and "\nb: Riders" in paragraphs[4]


def test_the_appendix_holds_what_is_cited_and_what_cites_it() -> None:
    run = record("tod")
    found = {entry.segment.id: entry for entry in topics.cited(run)}
    assert [*found] == sorted(found) and {"a:4", "b:3"} <= found.keys()
    a4 = found["a:4"]
    assert 3 in a4.sentences and ("0", "b1") in a4.counters and "0.0" in a4.topics
    uncited = {one.id for one in topics.uncited(run)}
    assert uncited and uncited | found.keys() == run.tree.segments.keys()


def test_a_key_and_a_page_make_a_reference() -> None:
    run = record("tod")
    papers = run.input["papers"]
    assert isinstance(papers, list) and isinstance(papers[0], dict)
    papers[0]["key"] = "trucks2024"
    segments = run.tree.segments
    segments["a:4"].page = segments["a:5"].page = segments["b:3"].page = 3
    assert topics.latex(run, segments["a:4"]) == r"\cite[p.~3]{trucks2024}"
    assert topics.latex(run, segments["b:3"]) == ""
    refs = topics.references(run, ["b:3", "a:5", "a:4", "a:77"])
    assert [(ref.id, ref.place, ref.known) for ref in refs] == [
        ("a:4", "trucks2024, p. 3", True),
        ("a:5", "p. 3", True),
        ("a:77", "", False),
        ("b:3", "p. 3", True),
    ]


@both
def test_the_table_names_segments_in_the_order_of_the_paper(shown: Shown) -> None:
    run = record("tod")
    before, root = shown(run), run.tree.nodes["0"]
    change(root, counter={name: ids[::-1] for name, ids in topic_of(root).counter.items()})
    assert shown(run) == before


Countered = tuple[Claim, list[str] | None]


def claim(id: str, addressed: bool | None, *counter: str) -> Countered:
    paper: Letter = "a" if id[0] == "a" else "b"
    made = Claim(id=id, paper=paper, title=id, description="", evidence=[])
    return made, None if addressed is None else [*counter]


def split(*claims: Countered, relevant: list[str], said: dict[str, dict[str, str]]) -> Tree:
    """A root with claims, and one topic about some; ``said``: what segments do to a claim."""
    made: dict[Letter, list[Claim]] = {"a": [], "b": []}
    for one, _ in claims:
        made[one.paper].append(one)
    counter = {one.id: found for one, found in claims if found is not None}
    data = Topic(claims=made, counter=counter).model_dump(mode="json")
    root = Node(id="0", text="", depth=0, kind="topic", children=["0.0"], data=data)
    for of, done in said.items():
        segments = [{"id": name, verb: "yes"} for name, verb in done.items()]
        place = {"node": "0", "role": "persona", "speaker": "b", "phase": "relevance", "step": 0}
        fields = {"claim": of, "segments": segments}
        root.transcript.append(Turn.model_validate({**place, "fields": fields}))
    about = Topic(relevant=relevant).model_dump(mode="json")
    topic = Node(id="0.0", parent="0", text="", depth=1, kind="topic", data=about)
    return Tree(nodes={"0": root, "0.0": topic})


@pytest.mark.parametrize(
    ("addressed", "does", "column", "remark"),
    [
        (False, {}, "a", "b does not address it"),
        (None, {}, "a", "not known whether b addresses it"),
        (True, {}, "shared", "b speaks to it"),
        (True, {"b:1": "supports"}, "shared", "b supports it"),
        (True, {"b:1": "refutes"}, "a", "b refutes it"),
        (True, {"b:1": "clarifies"}, "a", "b clarifies it"),
        (True, {"b:1": "clarifies", "b:2": "supports"}, "shared", "b supports and clarifies it"),
    ],
)
def test_a_claim_is_shared_where_the_other_paper_supports_it(
    addressed: bool | None, does: dict[str, str], column: str, remark: str
) -> None:
    counter = does or (["b:9"] if addressed else [])
    made = split(
        claim("a1", addressed, *counter), relevant=["a1"], said={"a1": does} if does else {}
    )
    [row] = topics.rows(made)
    assert [one.remark for one in row.column(column)] == [remark]
    assert sum(len(row.column(name)) for name in ("a", "b", "shared")) == 1


def test_a_claim_that_no_topic_is_about_has_a_row_of_its_own() -> None:
    rows = topics.rows(split(claim("a1", False), claim("b1", False), relevant=["b1"], said={}))
    assert [(r.topic and r.topic.id, len(r.column("a")), len(r.column("b"))) for r in rows] == [
        ("0.0", 0, 1),
        (None, 1, 0),
    ]
    assert topics.rows(Tree()) == []


def test_the_table_says_who_gave_way() -> None:
    assert "b" in [topics.gave_way(row) for row in topics.rows(record("tod").tree)]


@pytest.mark.parametrize(
    ("role", "who", "dropped", "failed"),
    [
        ("persona", "a", ("present", "revise"), False),
        ("persona", "a", ("revise",), True),
        ("persona", "b", (), False),
        ("moderator", "", (), False),
    ],
)
def test_an_argument_failed_only_where_its_persona_did(
    role: str, who: str, dropped: tuple[str, ...], failed: bool
) -> None:
    node = record("tod").tree.nodes["0.1"]
    node.failures = [Failure(role=role, speaker=who, fault="no reply came")]
    node.notes = [f"0.1/a1/{stage} dropped by a person" for stage in dropped]
    why = "Its argument failed for good." if failed else "A person dropped its argument."
    assert topics.silence(node, "a") == why


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
    places, links = anchors(markdown(run, []))
    assert links <= places
