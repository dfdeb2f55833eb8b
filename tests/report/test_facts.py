"""What every report says of a run: all its texts and figures, its verdict, its faults, its course.

Page and Markdown are read as a person reads them; the terminal prints the Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from pydantic import JsonValue

from dialectree.interfaces.mcp import results
from dialectree.protocols.protocol import load_protocols, method, methods
from dialectree.records import Comparison, RunRecord, Verdict
from dialectree.records.declared import declarations
from dialectree.report import markdown, transcript, tree, view, words
from dialectree.report.pages import macros
from dialectree.report.verdicts import verdict_lines, verdict_text
from dialectree.text import figure
from tests.report.recorded import (
    DEMOS,
    REPORTS,
    RUN,
    Shown,
    calls,
    events,
    failed,
    flat,
    prefix,
    read,
    record,
    seen,
    texts,
    unresolved,
)

both = pytest.mark.parametrize("shown", REPORTS.values(), ids=REPORTS)
each = pytest.mark.parametrize("name", DEMOS)


def in_terminal(run: RunRecord) -> str:
    parts = [tree(run), *(transcript(node, run) for node in run.tree.nodes.values())]
    return flat(" ".join(seen(part, 400).replace("▌", " ") for part in parts))


def lost(said: str, *values: object) -> list[str]:
    """Return the parts of sentences that ``said`` lacks."""
    parts = {part for text in texts([*values]) for part in re.split(r"(?<=[.:!?]) ", flat(text))}
    return sorted(part for part in parts if part.strip(" …:") not in said)


@each
@both
def test_no_text_of_a_record_is_lost(shown: Shown, name: str) -> None:
    run = record(name)
    said, whole = shown(run), run.model_dump(mode="json")
    own = words.own_view(run) is not None  # shows the sentences of a verdict by itself
    told = {} if own else {"input": whole["input"], "verdict": whole["verdict"]}
    assert lost(said, whole["tree"]["nodes"], whole["models"], told) == []
    head = [words.method(run), RUN, "2026-01-31 12:00:00 UTC", *run.prompts, *run.settings]
    assert [part for part in head if flat(part) not in said] == []


@each
def test_the_terminal_loses_no_text_of_the_tree(name: str) -> None:
    run = record(name)
    assert lost(in_terminal(run), run.model_dump(mode="json")["tree"]["nodes"]) == []


@each
@both
def test_no_figure_of_a_record_is_lost(shown: Shown, name: str) -> None:
    run = record(name)
    said, nodes = shown(run), run.tree.nodes.values()
    compared = words.compares(run)
    figures = [value for node in nodes for value in node.scores.values()]
    ruled = [run.verdict, *(node.verdict for node in nodes)]
    figures += [v.confidence for v in ruled if v and v.confidence is not None and not compared]
    assert [value for value in figures if figure(value) not in said] == []
    for number in (run.usage.prompt_tokens, run.usage.completion_tokens, run.usage.calls):
        assert f"{number:,}" in said


@both
def test_the_ledger_names_every_call_and_the_replies_that_never_entered(shown: Shown) -> None:
    run = record("tsd")
    taken = calls()[0]
    for turn in list(run.tree.nodes[taken.node].transcript):
        if turn.spot() == taken.spot():
            run.tree.nodes[taken.node].transcript.remove(turn)
    said = shown(run)
    assert "replies that never entered the debate" in said
    assert "replies that never entered the debate" not in shown(record("tsd"))
    assert all(f"{call.prompt_tokens:,}" in said and call.prompt in said for call in calls())


# The verdict, in one place for all doors


DOORS: dict[str, Shown] = {
    **REPORTS,
    "terminal": in_terminal,
    "chat": lambda run: flat(read(macros(run)("answer"))[1]),
    "MCP": lambda run: flat(results.text(results.debate(run))),
    "plain": lambda run: flat(verdict_text(run)),
}


@each
@pytest.mark.parametrize("shown", DOORS.values(), ids=DOORS)
def test_every_door_says_the_same_of_a_verdict(shown: Shown, name: str) -> None:
    for run in (record(name), failed(name)):
        if words.own_view(run) is None:
            kinds = ("answer", "measure", "arithmetic", "reason", "basis")
            said = shown(run)
            told = {one.text for one in verdict_lines(run) if one.kind in kinds}
            if shown is DOORS["page"]:  # draws figures as bars
                told = {run.verdict.answer or ""} if run.verdict else set()
                told = set() if run.verdict and run.verdict.probable else told
            assert [text for text in told if flat(text) not in said] == []


@each
@both
def test_a_run_that_was_broken_off_shows_what_was_known(shown: Shown, name: str) -> None:
    happened = events(name)
    for length in (1, len(happened) // 3, len(happened) - 3):
        run = prefix(name, length)
        said = shown(run)
        pending = "comparison" if name == "tod" else "verdict"
        assert f"there is no {pending} yet." in said and "the budget is used up" in said
        assert f"dialectree resume run, where run is the path of the folder {RUN}" in said
        assert lost(said, run.model_dump(mode="json")["tree"]["nodes"]) == []


@each
@both
def test_every_failure_is_named_with_its_place(shown: Shown, name: str) -> None:
    run = failed(name)
    said = shown(run)
    for node in run.tree.nodes:
        assert f"any judge failed: no reply came at {node}" in said
    number = len(run.tree.nodes)
    assert f"but {number} part{'s' * (number > 1)} of the debate failed for good" in said


@both
def test_a_demonstration_warns_of_its_model(shown: Shown) -> None:
    for name in DEMOS:
        run = record(name).model_copy(update={"demonstration": True})
        assert "not what is true" in shown(run)
        assert "not what is true" not in shown(record(name))


GAP = "The question leaves something open: which age is meant?"
WHYS: dict[str, tuple[int, int, list[str], str]] = {
    "nothing failed": (0, 0, [GAP], ""),
    "one part failed": (1, 0, [GAP], ": leaf judge failed: no reply"),
    "two parts": (2, 0, [GAP], ": 2 parts failed for good; of the first, leaf judge failed"),
    "one part came to nothing": (0, 1, [], ": position bias; sure: 5%"),
    "two came to nothing": (0, 2, [], ": 2 parts had none; of the first, position bias; sure: 5%"),
}


@both
@pytest.mark.parametrize(("broken", "empty", "notes", "why"), WHYS.values(), ids=WHYS.keys())
def test_a_run_without_an_answer_says_why(
    shown: Shown, broken: int, empty: int, notes: list[str], why: str
) -> None:
    run, lacking = unresolved("tsd", *notes), failed("tsd")
    leaves = [node for node in run.tree.nodes.values() if not node.children]
    for leaf in leaves[:broken]:
        leaf.failures = [lacking.tree.nodes["0"].failures[0].model_copy()]
        leaf.failures[0].role, leaf.failures[0].fault = "leaf_judge", "no reply"
    for leaf in leaves[:empty]:
        leaf.status, leaf.verdict, leaf.notes = "missing", None, ["position bias", "sure: 5%"]
    said = shown(run)
    assert f"the debate ended without an answer{why}" in said
    assert said.count(flat(GAP)) == len(notes)


# Questions that were split


def second_pass() -> RunRecord:
    run = record("tsd")
    leaf = run.tree.nodes["0.0"]
    assert leaf.verdict is not None
    leaf.earlier = [Verdict(answer="Perhaps it can.", rationale="Hardly.", confidence=0.18)]
    again = [turn.model_copy(update={"take": 2}) for turn in leaf.transcript]
    leaf.transcript += again
    leaf.verdict.take = 2
    return run


@both
def test_a_second_pass_stands_after_the_first(shown: Shown) -> None:
    said = shown(second_pass())
    assert said.count("second pass: debate") == 1
    assert "perhaps it can." in said and "0.18" in said


@both
def test_a_split_shows_where_each_part_went_and_turns_have_names(shown: Shown) -> None:
    said = shown(record("tsd"))
    for part in ("→ 0.0", "→ 0.1", "0.0/a1", "0.1/b1", "0/synthesis_judge", "source: judges"):
        assert part in said
    assert "0/decomposer" not in said  # is no text that could be changed
    root = record("tsd").tree.nodes["0"].verdict
    assert root is not None and f"{figure(root.local_confidence)} by the judge of this" in said


def test_twins_each_lead_to_their_own_part() -> None:
    run = record("tsd")
    first, second = (run.tree.nodes[f"0.{n}"] for n in (0, 1))
    whole = run.model_dump_json().replace(first.text, second.text)
    run = RunRecord.model_validate_json(whole)
    node = run.tree.nodes["0"]
    turn = next(t for t in node.transcript if "children" in t.fields)
    lines = view.entries(turn, node, view.children(run, node))
    assert [one.node for one in lines if one.node] == ["0.0", "0.1", "0.2"]


# Arguments about a claim


@both
def test_a_claim_at_a_leaf_has_the_answer_of_its_own_verdict(shown: Shown) -> None:
    run = record("tsd")
    leaf = run.tree.nodes["0.0"]
    leaf.kind, leaf.scores = "claim", {"strength": 0.7}
    assert leaf.verdict is not None
    leaf.verdict.answer, leaf.verdict.confidence = "Yes, the wells ran dry.", 0.7
    assert "yes, the wells ran dry." in shown(run)


def test_a_claim_at_a_leaf_that_is_not_settled_lacks_a_verdict() -> None:
    run = record("tsd")
    leaf = run.tree.nodes["0.0"]
    leaf.kind, leaf.verdict = "claim", None
    page = markdown(run, [])
    assert "No verdict yet." in page.partition("### 0.0 ")[2].partition("### 0.1 ")[0]


def art(change: Callable[[RunRecord], object] | None = None, **settings: JsonValue) -> RunRecord:
    run = record("art")
    run.settings |= settings
    run.declared = declarations(method("art"), run.settings)
    if change is not None:
        change(run)
    return run


def both_orders(run: RunRecord) -> None:
    met = run.tree.nodes["0"].comparisons
    met.append(met[0].model_copy(update={"order": "attack_first", "winner": "ATTACK"}))


def drop(run: RunRecord) -> None:
    run.tree.nodes["0.1"].dropped = True


def undecided(run: RunRecord) -> None:
    assert run.verdict is not None
    run.verdict.confidence = 0.5


def unheard(run: RunRecord) -> None:
    run.verdict, run.status = Verdict(notes=["a side could not be weighed"]), "unresolved"
    node = run.tree.nodes["0.0"]
    node.scores, node.status = {}, "missing"


def unweighed(run: RunRecord) -> None:
    node = run.tree.nodes["0.0"]
    node.scores, node.status = {}, "open"


def contested(run: RunRecord) -> None:
    run.tree.nodes["0"].comparisons[0].contested = "flipped"
    run.tree.nodes["0"].comparisons[1].contested = "voided"
    run.tree.nodes["0.3"].added = True


def declined(run: RunRecord) -> None:
    run.tree.nodes["0"].data["declined"] = {"attack": True}


ARGUMENTS: dict[str, tuple[RunRecord, str]] = {
    "signs, stances, strengths and comparisons": (
        art(),
        "p(claim) 0.65 | more likely true than false | τ: how strong | τ′: both blended"
        " | ✓ supports | ✗ attacks | τ 0.76, θ 1.00 → τ′ 0.88 → s 0.88 | beat 0.2 | lost to 0.0"
        " | df-quad semantics · λ | a tie counts half | θ is a mean win rate | tied with 0.1"
        " | ~confidence 0.65 | ~0.65 confidence",
    ),
    "a fit": (art(strength_rule="bradley_terry"), "θ is a bradley-terry fit | a tie does not count"),
    "one half": (art(undecided), "as likely true as false"),
    "what does not count": (
        art(prune_below=0.4),
        "pruned: its weight is below 0.4 | arguments below 0.4 are pruned",
    ),
    "what a person dropped": (art(drop), "dropped by a person | ~does not count: 0.1 above"),
    "both orders of a pair": (art(both_orders), "0.0 shown first | 0.2 shown first | beat 0.2 / lost to 0.2"),
    "a side that was not heard": (
        art(unheard),
        f"without an answer: a side could not be weighed | dialectree contest {RUN} --set 0.0"
        " | left out: it has no strength | ~more likely",
    ),
    "a tree that still grows": (art(unweighed), "not weighed yet"),
    "what a person changed": (
        art(contested),
        "flipped by a person | voided by a person | added by a person | beat 0.2 (flipped)",
    ),
    "a side that declined": (art(declined), "the side against declined"),
}


@both
@pytest.mark.parametrize(("run", "phrases"), ARGUMENTS.values(), ids=ARGUMENTS.keys())
def test_an_argument_tree_says(shown: Shown, run: RunRecord, phrases: str) -> None:
    """A phrase after a tilde must not be there."""
    said = shown(run)
    wanted = {phrase.lstrip("~"): phrase[0] != "~" for phrase in phrases.split(" | ")}
    wanted.pop("p(claim) 0.65" if "p(claim): more" in said else "", None)  # a bar stands between
    assert {p: there for p, there in wanted.items() if (p in said) is not there} == {}


def test_the_meaning_of_the_signs_stands_before_their_use() -> None:
    for shown in (in_terminal, *REPORTS.values()):
        said = shown(record("art"))
        assert said.index("τ: how strong") < said.index("τ 0.50") if "τ 0.50" in said else True
    assert "τ: how strong" not in in_terminal(record("rsd"))


@both
def test_the_order_in_which_a_comparison_was_shown_tells_its_reason(shown: Shown) -> None:
    run = record("art")
    node = run.tree.nodes["0"]
    turn = next(t for t in node.transcript if t.speaker == "0.0:0.2")
    turn.speaker = "0.2:0.0"
    node.comparisons = [Comparison(supporter="0.0", attacker="0.2", winner="TIE", order="attack_first")]
    said = shown(run)
    assert "0.0 tied with 0.2" in said and "0.2 shown first" in said
    assert flat(str(turn.fields["rationale"])) in said


# What is there whoever reads it


METHODS = {
    ("rsd", "rsd"): "Role-Switching Debate",
    ("rsd", "no_role_switch"): "Role-Switching Debate without the role switch",
    ("rsd", "new_one"): "New one (compared with Role-Switching Debate)",
    ("art", "argllm"): "ArgLLM, arguments weighed without meeting each other",
    ("art", "direct"): "Yes or no without debate",
    ("tod", "single_stage"): "both papers compared in one step, without debate",
}


@pytest.mark.parametrize(("of", "said"), METHODS.items())
def test_methods_are_named_in_plain_words(of: tuple[str, str], said: str) -> None:
    run = record(of[0]).model_copy(update={"method": of[1]})
    if of[1] in methods():
        run.declared = declarations(methods()[of[1]], run.settings)
    assert said.lower() in words.method(run).lower()


def test_a_census_counts_by_the_noun_of_the_protocol() -> None:
    counted = {name: words.census(record(name)) for name in DEMOS}
    assert counted["tsd"] == "4 questions" and counted["art"] == "1 claim and 4 arguments"
    assert counted["rsd"] == "1 debate" and counted["tod"] == "3 topics"


SETTINGS: dict[str, tuple[dict[str, JsonValue], dict[str, str]]] = {
    "limits": ({"max_calls": None, "prices": {}}, {"max_calls": "no limit", "prices": "none"}),
    "pruning": ({"prune_below": None}, {"prune_below": "nothing is pruned"}),
    "given": ({"max_depth": 0, "ties": "half"}, {"max_depth": "0", "ties": "half"}),
}


@pytest.mark.parametrize(("unset", "shown"), SETTINGS.values(), ids=SETTINGS.keys())
def test_a_setting_without_a_value_is_shown_as_what_holds(
    unset: dict[str, JsonValue], shown: dict[str, str]
) -> None:
    found = view.settings(record("art").model_copy(update={"settings": unset}))
    assert {name: found[name] for name in shown} == shown
    assert "–" not in found.values() and "" not in found.values()


@both
def test_a_protocol_that_is_not_installed_is_shown_by_the_names_of_its_fields(shown: Shown) -> None:
    fields: dict[str, JsonValue] = {
        "inner_voice": "hm",
        "strength": 0.125,
        "evidence": [{"id": "s1", "quote": "so it is written", "page": 7}],
        "weights": {"left": 1, "right": [True, None]},
    }
    run = record("tsd").model_copy(update={"protocol": "future", "method": "future"})
    assert "future" not in load_protocols()
    turn = run.tree.nodes["0.1"].transcript[0]
    turn.role, turn.speaker, turn.phase, turn.fields = "oracle", "x", "dreaming", fields
    said = shown(run)
    for part in ("dreaming", "oracle", "inner voice", "0.12", "s1", "weights", "left", "so it is"):
        assert part in said
