"""What the page and the Markdown both say of a run: verdicts, figures, statuses, failures, notes.

The terminal prints the Markdown: test_terminal.py checks that it loses no word of it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dialectree.graphs.tree_of_debate import topics
from dialectree.records import Failure, Node, RunRecord, Tree, Turn, Verdict, topic_of
from dialectree.report import html, markdown
from tests.report import sample, sample_art, sample_rsd, sample_tod
from tests.report.test_markdown import read
from tests.report.test_pages import Page

Make = Callable[[], RunRecord]
Shown = Callable[[RunRecord], str]


def flat(text: str) -> str:
    """Return ``text`` on one line and in small letters."""
    return " ".join(text.replace("’", "'").lower().split())


def page(record: RunRecord) -> str:
    return flat(Page(html(record, sample.calls())).text)


def text(record: RunRecord) -> str:
    return flat(read(markdown(record, sample.calls()))[1])


both = pytest.mark.parametrize("shown", [page, text])


def changed(make: Make, **update: object) -> Make:
    return lambda: make().model_copy(update=update)


def raised() -> RunRecord:
    made = sample_tod.record()
    sample_tod.change(made.tree.nodes["0.0.0"], raised_by=["What of the worst case then?"])
    return made


def unconverged() -> RunRecord:
    note = "Bradley-Terry has not converged after 100 steps"
    return sample_art.run([*sample_art.events(), sample_art.told("noted", note=note)])


def growing() -> RunRecord:
    record = sample_art.run(sample_art.events()[:14])
    return record.model_copy(update={"status": "partial", "verdict": None})


def not_reckoned() -> RunRecord:
    record = sample_art.contested()
    assert record.contest is not None
    record.contest.after, record.contest.path, record.contest.why = None, [], ""
    return record.model_copy(update={"verdict": None, "status": "running", "tree": Tree()})


def added() -> RunRecord:
    record = sample_art.record()
    record.tree.nodes["0.2"].added = True
    return record


def broken_debate() -> RunRecord:
    record = sample_rsd.won()
    node = record.tree.nodes["0"]
    node.transcript, node.verdict = node.transcript[:3], None
    return record.model_copy(update={"verdict": None, "status": "partial"})


def of_a_future_protocol() -> RunRecord:
    fields = {
        "inner_voice": "hm",
        "strength": 0.125,
        "evidence": [{"id": "s1", "quote": "so it is written", "page": 7}],
        "weights": {"left": 1, "right": [True, None]},
    }
    place = {"node": "0.1", "phase": "dreaming", "role": "oracle", "speaker": "x"}
    record = sample.record().model_copy(update={"protocol": "future", "method": "future"})
    record.tree.nodes["0.1"].transcript = [Turn.model_validate({**place, "fields": fields})]
    return record


def hardly_begun() -> RunRecord:
    tree = Tree(nodes={"0": Node(id="0", text="", depth=0, children=["0.7"])})
    update = {"status": "running", "tree": tree, "verdict": None, "ended": None}
    return sample.record().model_copy(update=update)


def broken_contest() -> RunRecord:
    record = sample.contested()
    assert record.contest is not None
    contest = record.contest.model_copy(update={"verdict_after": None, "moved": []})
    return record.model_copy(update={"status": "partial", "contest": contest})


ROUNDS = " | ".join(
    f"{said} {part} {who}{n}"
    for said in ("early", "late", "only")
    for n, who in enumerate("BABA")
    for part in ("claim", "support")
)
GOES_ON = "dialectree resume RUN, where RUN is the path of the folder 20260131-120000-abc123"
IN_ORDER: dict[str, tuple[Make, str]] = {
    "a second pass stands after the first": (
        sample.record,
        "early claim | second pass: debate | late claim | only claim",
    ),
    "a split shows its parts and how they were rated": (
        sample.record,
        "difficulty | 0.25 | 0.80 | first by concise | second by full",
    ),
    "a summary is two paragraphs, proposals stand apart, faults are marked": (
        sample_tod.record,
        f"what they share | {sample_tod.SHARED} | what sets them apart | {sample_tod.FASTER}"
        f" | {sample_tod.UNGROUNDED} | {sample_tod.NO_GROUND} | {sample_tod.MISQUOTED}"
        f" | {sample_tod.MISQUOTE} | {topics.PROPOSED} | {sample_tod.HYBRID}",
    ),
    "the phases of a debate": (
        sample_rsd.won,
        "plant materials | proposals | petrol is a plant material | cross-examination"
        f" | the opponent never wrote this: | {sample_rsd.UNWRITTEN}"
        " | flowers have far too little energy. | role switch"
        " | speaks for the answer of debater c | nearly every car"
        " | speaks for the answer of debater b | ethanol | uncertainty reports | 0.62"
        " | whether fossil plants are plants | 0.91 | sales figures | judgment"
        " | the case for c is sounder, and b admits its doubt.",
    ),
    "a mended ruling stands beside the one that counts": (
        sample_rsd.mended,
        "did not name the same candidate | does not count | the case for b is sounder"
        " | ruling, asked again | the case for c is",
    ),
    "two orders that disagree are both shown": (
        sample_rsd.biased,
        "ended without an answer: position bias: the judge ruled otherwise"
        " | the two readings come to different answers: position bias. | the case for b is"
        " | ruling with the sides swapped",
    ),
    "a proposal that was set aside is kept": (
        sample_rsd.again,
        "its first proposal, set aside: both had proposed the same. | wood gas drives cars."
        " | petrol stations sell oil.",
    ),
    "a knockout shows its debates in their order": (
        sample_rsd.knockout,
        "debated in 0.0, 0.1; the answer"
        " | a knockout of 2 debates; the winners meet until one option is left | c or b:"
        " | c or a:",
    ),
    "a contest of strengths says what was changed and what it did": (
        sample_art.contested,
        "20260130-090000-ffffff | 0.0 against 0.1: flipped | 0.41 → 0.51, false → true"
        f" | {sample_art.WHY} | 0.97 → 0.82 | 0.25 → –",
    ),
    "a contest of replies shows each text before and after": (
        sample.contested,
        "0.2/b1 restored | 1 replaced | before | as it was. | after | a person's own words."
        " | 0.0 given another verdict in an earlier contest"
        " | 0.1 dropped in an earlier contest | before | what was found. | after | nothing"
        " | the verdict | before | after | a person's own words. (0.36)"
        " | what moved, from the bottom up | 0.1 | after | dropped by a person"
        " | made anew; all else is as it was said",
    ),
}


@both
@pytest.mark.parametrize(("make", "phrases"), IN_ORDER.values(), ids=IN_ORDER.keys())
def test_a_report_says_in_this_order(shown: Shown, make: Make, phrases: str) -> None:
    said, lost = shown(make()), list[str]()
    for phrase in map(flat, phrases.split(" | ")):
        _, found, after = said.partition(phrase)
        said = after if found else said
        lost += [] if found else [phrase]
    assert lost == []


LACKS_STRENGTH = "ended without an answer: the claim's own strength is not known"
FACTS: dict[str, tuple[Make, str]] = {
    "every turn of every pass, whoever won": (
        sample.record,
        f"{ROUNDS} | first by concise | second by full | source: judges"
        " | 0.90 by the judge of this question × 0.40 of its weakest part, 0.0."
        " | replies that never entered the debate | i would say no."
        " | no reply after 4 attempts",
    ),
    "the names by which turns can be contested": (
        sample.record,
        "0.0/a1 | 0.0/b1 | 0.0/leaf_judge | 0/concise1 | 0/synthesis_judge | ~0/decomposer"
        " | ~not what is true",
    ),
    "the names of a two-sided debate": (
        sample_rsd.won,
        "0/b1 | 0/c1 | 0/judge1",
    ),
    "a demonstration": (
        changed(sample.record, demonstration=True),
        "not what is true",
    ),
    "a demonstration of a comparison": (
        changed(sample_tod.record, demonstration=True),
        "not what is true",
    ),
    "a failure and its place": (
        sample.degraded,
        "1 part of the debate failed for good | leaf debater failed: no reply came",
    ),
    "how a partial run goes on": (
        sample.partial,
        f"{GOES_ON} | the budget of 20 calls is used up | there is no verdict yet. | only claim b0",
    ),
    "a run that hardly began": (
        hardly_begun,
        f"{sample.QUESTION}",
    ),
    "a protocol unknown here, by the names of its fields": (
        of_a_future_protocol,
        "dreaming | oracle x | inner voice | strength | 0.12 | s1 | left | weights"
        " | so it is written",
    ),
    "a comparison": (
        sample_tod.record,
        "2 of 5 sentences are marked | linear beats n log n | the bound is worth the price"
        " | no bound, admittedly | a concedes | b concedes | neither concedes | present"
        " | a presents at 0.0 | is that the worst case? | b responds at 0.1"
        " | not split: one paper has clearly won | not split: the debate got no further"
        " | not split: the depth limit was reached | the bound settles it."
        " | yes, but nobody asked one: it counts as no | b does not address it | clarifies"
        " | not known whether a addresses it | refutes | left out: b:2 | the ladder"
        f" | {sample_tod.LADDER} | ladder.pdf · ladder2024 · 4 segments cited"
        f" | retrieved: 0.74 | {sample_tod.MESH} | mesh.tex · 3 segments cited"
        " | ~the whole paper",
    ),
    "the question that led to a topic": (
        raised,
        "raised by | what of the worst case then?",
    ),
    "no table without claims": (
        sample_tod.bare,
        "~contributions",
    ),
    "a comparison broken off": (
        sample_tod.broken_off,
        "there is no comparison yet.",
    ),
    "a comparison without its summary": (
        sample_tod.unsummarised,
        "the debate ended without a comparison",
    ),
    "a comparison that was not split": (
        sample_tod.unsplit,
        "no reply came",
    ),
    "a missing argument": (
        sample_tod.one_sided,
        "its argument failed for good. | every orbit has a bound | only b argues"
        " | persona a failed: no reply came | no argument",
    ),
    "two stages": (
        sample_tod.two_stage,
        "both are fast. only b has bounds. | paper a in short. | paper b in short."
        " | a summary of each paper, then a comparison, without debate",
    ),
    "a single stage": (
        sample_tod.single_stage,
        "both papers compared in one step",
    ),
    "a verdict of a person": (
        sample_tod.ruled_by_a_person,
        "a person says: they are much alike. | ~what sets them apart",
    ),
    "words that a person put into a paper": (
        sample_tod.amended,
        "in a person's words, not the paper's.",
    ),
    "an argument tree": (
        sample_art.record,
        "p(claim) | more likely false than true | 0.41 | ✓ supports | ✗ attacks"
        " | τ 0.68, θ 0.00 → τ′ 0.34 → s 0.34 | τ 0.80, θ 1.00 → τ′ 0.90 → s 0.97"
        f" | τ 0.25 → s 0.25 | {sample_art.AGAINST} | why 0.1 weighs. | 0.0 lost to 0.1"
        " | 0.0 tied with 0.2 | why attack. | beat 0.0 | 1 tie counts for nobody"
        " | the attacker declined: it has no (further) honest argument against this."
        " | df-quad semantics · λ | a tie counts for nobody | θ is a bradley-terry fit"
        " | ~confidence | ~/scorer",
    ),
    "win rates": (
        lambda: sample_art.run(sample_art.events(), strength_rule="win_rate"),
        "θ is a mean win rate | a tie counts half for each",
    ),
    "comparisons that do not count": (
        changed(sample_art.record, method="argllm"),
        "0 (comparisons do not count)",
    ),
    "a fit that has not converged": (
        unconverged,
        "has not converged after 100 steps",
    ),
    "what does not count": (
        sample_art.pruned,
        "pruned: its weight is below 0.3 | left out: it has no strength"
        " | arguments below 0.3 are pruned",
    ),
    "both orders of a pair": (
        sample_art.both_orders,
        "supporter shown first | attacker shown first | lost to 0.0 / beat 0.0",
    ),
    "exactly one half": (
        sample_art.undecided,
        "as likely true as false | undecided: p(claim) is exactly 0.5",
    ),
    "a claim that was not heard": (
        sample_art.unheard,
        "ended without an answer: a side of the claim could not be heard or weighed"
        " | supporter failed: no reply came | ~more likely",
    ),
    "a claim without a strength of its own": (
        sample_art.unknown,
        f"{LACKS_STRENGTH} | dialectree contest 20260131-120000-abc123 --set 0"
        " | τ 0.80, θ 1.00 → τ′ 0.90 → s 0.97 | ~not weighed yet | ~left out",
    ),
    "the trees of a leaf": (
        changed(sample_art.ensemble, protocol="tsd", method="tsd"),
        "0.62 | ~no verdict yet",
    ),
    "an ensemble": (
        sample_art.ensemble,
        "the mean of 2 trees: 0.0 0.62, 0.1 0.40 | 0.1.0",
    ),
    "a contested argument tree": (
        sample_art.contested,
        "flipped by a person | voided by a person: counts for nobody | dropped by a person"
        " | ~without a strength | ~/scorer",
    ),
    "a contest that is not reckoned yet": (
        not_reckoned,
        "0.41 → –, false → not determined",
    ),
    "an argument of a person's own": (
        added,
        "added by a person",
    ),
    "a tree that still grows": (
        growing,
        "τ 0.68 | there is no verdict yet. | not weighed yet",
    ),
    "a leaf of a tree with its probability": (
        sample_art.leaf_of_a_tree,
        "0.59 | half. | 0.41 | 0.36 | τ 0.80, θ 1.00 → τ′ 0.90 → s 0.97",
    ),
    "options that were debated": (
        sample_rsd.oracle,
        "b plant materials | debated; the answer; known to be right"
        " | a debate with the gold answer in it is binary: chance is 50%",
    ),
    "a ruling that names nobody": (
        sample_rsd.mismatched,
        f"ended without an answer: {sample_rsd.MISMATCH}."
        " | letter and answer do not name the same candidate.",
    ),
    "an open question": (
        sample_rsd.open_question,
        "plants. | oil. | judge, whether both say the same",
    ),
    "a gate that agrees": (
        sample_rsd.gated,
        "no debate: 3 direct answers agreed | 3 × oil products | direct answer 1 | reason 1."
        " | direct answer 2 | reason 2. | direct answer 3 | reason 3. | ~proposals",
    ),
    "nobody won where two orders disagree": (
        sample_rsd.biased,
        "~0.80 · source | ~won",
    ),
    "a leaf debated in five phases": (
        sample_rsd.leaf_of_a_tree,
        "half. | cross-examination | second pass: debate",
    ),
    "a debate that broke off": (
        broken_debate,
        "did not speak in this phase. | there is no verdict yet.",
    ),
    "a contest of replies": (
        sample.contested,
        "0.0/leaf_judge, set by a person | 1, in a person's words | ~p(claim) | ~no answer"
        " | ~given up",
    ),
    "a contest that is broken off": (
        broken_contest,
        f"{GOES_ON} | not reached yet",
    ),
}


@both
@pytest.mark.parametrize(("make", "phrases"), FACTS.values(), ids=FACTS.keys())
def test_a_report_says(shown: Shown, make: Make, phrases: str) -> None:
    """A phrase after a tilde must not be there."""
    said = shown(make())
    wanted = {phrase.lstrip("~"): phrase[0] != "~" for phrase in phrases.split(" | ")}
    assert {p: there for p, there in wanted.items() if (flat(p) in said) is not there} == {}


@both
@pytest.mark.parametrize("make", sample_tod.RUNS)
def test_every_comparison_is_shown_and_has_no_confidence(shown: Shown, make: Make) -> None:
    said = shown(make())
    assert flat(sample_tod.TOPIC) in said
    assert "confidence" not in said and "not determined" not in said


@both
def test_the_table_names_segments_in_the_order_of_the_paper(shown: Shown) -> None:
    run = sample_tod.record()
    before = shown(run)
    root = run.tree.nodes["0"]
    turned = {name: ids[::-1] for name, ids in topic_of(root).counter.items()}
    sample_tod.change(root, counter=turned)
    assert shown(run) == before


GAP = "The question leaves something open: which age is meant?"
WHYS: dict[str, tuple[int, int, list[str], str]] = {
    "nothing failed": (0, 0, [GAP], ""),
    "one part failed": (1, 0, [GAP], ": leaf judge failed: no reply"),
    "two parts failed": (
        2,
        0,
        [GAP],
        ": 2 parts failed for good; of the first, leaf judge failed: no reply",
    ),
    "one part came to nothing": (0, 1, [], ": position bias; sure: 5%"),
    "two parts came to nothing": (
        0,
        2,
        [],
        ": 2 parts had none; of the first, position bias; sure: 5%",
    ),
}


@both
@pytest.mark.parametrize(("failed", "empty", "notes", "why"), WHYS.values(), ids=WHYS.keys())
def test_a_run_without_an_answer_says_why(
    shown: Shown, failed: int, empty: int, notes: list[str], why: str
) -> None:
    run = sample.record().model_copy(
        update={"status": "unresolved", "verdict": Verdict(notes=notes)}
    )
    for node in run.tree.nodes.values():
        node.failures, node.notes = [], []
    leaves = [node for node in run.tree.nodes.values() if not node.children]
    for leaf in leaves[:failed]:
        leaf.failures = [Failure(role="leaf_judge", fault="no reply")]
    for leaf in leaves[:empty]:
        leaf.status, leaf.verdict, leaf.notes = "missing", None, ["position bias", "sure: 5%"]
    said = shown(run)
    assert f"the debate ended without an answer{why}." in said
    assert said.count(flat(GAP)) == len(notes)
