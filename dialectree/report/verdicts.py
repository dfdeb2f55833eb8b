"""Put the verdict of a run into words, for every interface.

The state of the run and the nodes without a result are put into words, too.
"""

from __future__ import annotations

from itertools import groupby
from typing import Literal, NamedTuple

from dialectree.records import Calibrated, RunRecord, Verdict
from dialectree.report import arguments, contested, view, words
from dialectree.report.figures import format_money, format_share
from dialectree.report.grounds import EvidenceUse
from dialectree.text import clean, count, duration, figure, format_list, line


class VerdictLine(NamedTuple):
    """One line about a verdict, or one paragraph of it."""

    kind: Literal[
        "banner", "answer", "measure", "arithmetic", "reason", "ground", "note", "change", "state", "basis"
    ]
    text: str


def verdict_lines(record: RunRecord) -> list[VerdictLine]:
    """Return the verdict of a run in words, as lines in reading order.

    An interface prints all lines, or picks some by their kind. The kinds are warnings about the
    models (``banner``), the answer, the confidence and the judges' agreement (``measure``), how
    they were computed (``arithmetic``), the reason, cited sentences of sources (``ground``), notes,
    the changes of a contest, the state of a run that did not end well, and the basis of the verdict.
    """
    verdict, protocol_view = record.verdict, words.own_view(record)
    lines = [VerdictLine("banner", text) for text in banners(record)]
    answer_texts = protocol_view.answer(record) if protocol_view is not None else []
    lines += [VerdictLine("answer", text) for text in answer_texts or _answer(record)]
    lines += [
        VerdictLine("ground", text)
        for text in (protocol_view.grounds(record) if protocol_view is not None else [])
    ]
    if verdict is not None:
        lines += [VerdictLine("measure", text) for text in _measures(record, verdict)]
        lines += [VerdictLine("arithmetic", text) for text in _arithmetic(record)]
        lines += [VerdictLine("reason", verdict.rationale)] if verdict.rationale and not answer_texts else []
        evidence_use = EvidenceUse(record)
        lines += [VerdictLine("ground", text) for text in evidence_use.grounds(verdict)]
        sentence_count, total = evidence_use.count_shown()
        if total:
            source_line = f"Sources: {sentence_count:,} of {count(total, 'sentence')} shown"
            lines.append(VerdictLine("ground", source_line))
        lines += [VerdictLine("note", f"Note: {note}") for note in notes(record)]
    if record.contest is not None:
        lines += [VerdictLine("change", text) for text in contested.changes(record)]
    if record.status != "answered" and state(record) not in [line.text for line in lines]:
        lines.append(VerdictLine("state", state(record)))
    return [*lines, VerdictLine("basis", basis(record))]


def verdict_text(record: RunRecord, *kinds: str) -> str:
    """Return :func:`verdict_lines` as plain text: all of them, or those of the named kinds."""
    chosen = [line for line in verdict_lines(record) if not kinds or line.kind in kinds]
    blocks = groupby(chosen, lambda line: line.kind)
    texts = (
        ("\n" if kind in ("ground", "note", "change") else "\n\n").join(line.text for line in block)
        for kind, block in blocks
    )
    return clean("\n\n".join(texts))


def _answer(record: RunRecord) -> list[str]:
    verdict = record.verdict
    if verdict is None:
        return [pending(record)]
    answer_lines = [headline(verdict)] if headline(verdict) else []
    if verdict.answer is not None:
        return answer_lines
    over = record.status not in ("running", "partial")
    return [*answer_lines, describe_missing_answer(record) if over else pending(record)]


def _measures(record: RunRecord, verdict: Verdict) -> list[str]:
    """Return the confidence of the verdict, and how far the judges agree."""
    lines = [confidence(verdict)] if asserts(record) else []
    return lines + ([agreement(verdict)] if verdict.agreement is not None else [])


def _arithmetic(record: RunRecord) -> list[str]:
    """Return how the confidence of the verdict was computed."""
    lines, root = list[str](), record.tree.nodes.get(record.tree.root)
    if trees := arguments.roots(record):
        means = (f"{tree.id} {figure(tree.score('strength'))}" for tree in trees)
        lines.append(f"The mean of {count(len(trees), 'tree')}: {', '.join(means)}.")
    if how := arguments.reckoning(record):
        lines += [*filter(None, [words.look(record).signs]), " · ".join(how)]
    if root is not None and (product_text := view.product(record, root)):
        lines.append(product_text)
    return lines


def banners(record: RunRecord) -> list[str]:
    """Return the warnings that a reader needs before the answer."""
    demonstration = (
        "A demonstration. A model below 1 billion parameters answers at chance; this shows how the "
        "program works, not what is true."
    )
    illustration = (
        "An illustration. Replies here were written by hand, not by a model; they show what a "
        "debate looks like. Their tokens are estimated from the texts, and their time was not "
        "measured."
    )
    return [demonstration] * record.demonstration + [illustration] * record.illustration


def asserts(record: RunRecord) -> bool:
    """Return whether the run has an answer that is neither a comparison nor a probability."""
    verdict = record.verdict
    if verdict is None or verdict.answer is None or words.compares(record):
        return False
    return not verdict.probable


def likely(probability: float) -> str:
    """Return in words what the probability of a claim means."""
    if probability == 0.5:
        return "as likely true as false"
    more, less = ("true", "false") if probability > 0.5 else ("false", "true")
    return f"more likely {more} than {less}"


def headline(verdict: Verdict) -> str:
    """Return ``B: oxygen``, or ``P(claim) 0.73: more likely true than false``; empty without an answer."""
    if verdict.confidence is not None and verdict.probable:
        claim_probability, means = (f"P(claim) {figure(verdict.confidence)}", likely(verdict.confidence))
        if (calibration := verdict.calibrated) is None:
            return f"{claim_probability}: {means}"
        if likely(calibration.confidence) != means:
            means = f"{means} as said, {likely(calibration.confidence)} calibrated"
        return f"{claim_probability} as said; {format_calibrated_confidence(calibration)}: {means}"
    parts = dict.fromkeys(part for part in (verdict.label, verdict.answer) if part)
    return ": ".join(parts)


def confidence(verdict: Verdict) -> str:
    """Return ``Confidence 0.64 · source: judges``.

    With a calibration it is ``Confidence 0.90 as the judge said; 0.71 calibrated (n = 212)``.
    """
    if verdict.calibrated is not None:
        source = verdict.confidence_source or "verdict"
        stated_confidence = f"{format_share(verdict.confidence)} as the {source} said"
        return f"Confidence {stated_confidence}; {format_calibrated_confidence(verdict.calibrated)}"
    has_confidence = verdict.confidence is not None
    source = f" · source: {verdict.confidence_source or 'unknown'}" if has_confidence else ""
    return f"Confidence {format_share(verdict.confidence)}{source}"


def format_calibrated_confidence(calibration: Calibrated) -> str:
    """Return ``0.71 calibrated (n = 212)``."""
    return f"{figure(calibration.confidence)} calibrated (n = {calibration.n:,})"


def agreement(verdict: Verdict) -> str:
    """Return ``Agreement of the judges 0.67; judge 2: B``."""
    dissent = "".join(f"; judge {who}: {label}" for who, label in verdict.dissent.items())
    return f"Agreement of the judges {format_share(verdict.agreement)}{dissent}"


def basis(record: RunRecord) -> str:
    """Return ``Rests on 7 questions with 30 turns, debated at 0.0, 0.1.0 and 0.1.1.``"""
    nodes = record.tree.nodes
    turn_count = count(sum(len(node.transcript) for node in nodes.values()), "turn")
    root = nodes.get(record.tree.root)
    places = [] if root is None or root.provenance == [root.id] else root.provenance
    debated = f", debated at {format_list(places)}" if places else ""
    return f"Rests on {words.census(record)} with {turn_count}{debated}."


def two_line_summary(record: RunRecord) -> str:
    """Return the question, the outcome and the cost in two lines, for a program or a log."""
    sure = [line(confidence(record.verdict), 90)] if record.verdict and asserts(record) else []
    parts = [line(verdict_text(record, "answer"), 90), *sure, *sums(record)]
    question = line(words.question(record), 90)
    return f"{record.run_id} ({record.method}, {record.status}): {question}\n  {' · '.join(parts)}"


def sums(record: RunRecord) -> list[str]:
    """Return ``9 calls (3 from the reply cache)``, ``3,210 tokens``, ``12 s``, and the cost if known."""
    usage = record.usage
    calls = count(usage.calls, "call")
    if usage.calls_from_cache:
        calls += f" ({usage.calls_from_cache:,} from the reply cache)"
    tokens = count(usage.prompt_tokens + usage.completion_tokens, "token")
    cost = [] if usage.cost is None else [f"cost {format_money(usage.cost)}"]
    return [calls, tokens, duration(usage.wall_s), *cost]


def state(record: RunRecord) -> str:
    """Return the state of a run in one sentence."""
    broken, thing = len(record.list_failures()), _outcome(record)
    match record.status:
        case "answered":
            return "No part of the debate failed."
        case "degraded" if not broken:
            missing = count(len(_without(record, "missing")), "part")
            return f"There is {thing}, but {missing} had none."
        case "degraded":
            return f"There is {thing}, but {count(broken, 'part')} of the debate failed for good."
        case "unresolved":
            return f"The debate ended without {thing}."
        case "partial":
            folder = f"where RUN is the path of the folder {record.run_id}"
            return f"Broken off before the end. To go on: dialectree resume RUN, {folder}."
        case "running":
            return "Still under way, or stopped without notice; this is what was known."


def _outcome(record: RunRecord) -> str:
    return "a comparison" if words.compares(record) else "an answer"


def heading_of_verdict(record: RunRecord) -> str:
    """Return the heading above the outcome: ``Comparison`` or ``Verdict``."""
    return "Comparison" if words.compares(record) else "Verdict"


def pending(record: RunRecord) -> str:
    """Return a sentence for a run that has not reached its verdict yet."""
    return f"There is no {heading_of_verdict(record).lower()} yet."


def describe_missing_answer(record: RunRecord) -> str:
    """Say that the answer is missing, and the reason if it is known."""
    first_note = next(iter(record.verdict.notes if record.verdict else []), "")
    why_not = _what_failed(record) if _notes_are_gaps(record) else first_note
    reason = f": {why_not.rstrip('.')}" if why_not else ""
    text = f"The debate ended without {_outcome(record)}{reason}."
    if not (lacking := _without_strength(record)):
        return text
    settings = " ".join(f"--set {name}=STRENGTH" for name in lacking)
    return f"{text} To set a strength yourself: dialectree contest {record.run_id} {settings}"


def _notes_are_gaps(record: RunRecord) -> bool:
    """Return whether a verdict's notes say what the question leaves open, not why the debate failed."""
    return words.look(record).gaps


def _what_failed(record: RunRecord) -> str:
    """Return the first failure, or else the notes of the first part without an answer."""
    reasons, outcome = (
        [words.describe_failure(failure) for _, failure in record.list_failures()],
        "failed for good",
    )
    if not reasons:
        missing = (record.tree.nodes[name] for name in _without(record, "missing"))
        reasons = ["; ".join(leaf.notes) for leaf in missing if leaf.notes and not leaf.children]
        outcome = "had none"
    prefix = f"{len(reasons)} parts {outcome}; of the first, " if len(reasons) > 1 else ""
    return f"{prefix}{reasons[0]}" if reasons else ""


def _without_strength(record: RunRecord) -> list[str]:
    """Return the claims and arguments that lack a strength, which a contest can set."""
    nodes = record.tree.nodes
    if words.view_of(record) != "arguments" or not any(node.kind == "argument" for node in nodes.values()):
        return []
    claims = [
        node
        for node in nodes.values()
        if node.kind == "claim" and not any(nodes[name].kind == "claim" for name in node.children)
    ]
    below = [nodes[name] for claim in claims for name in claim.children]
    return [node.id for node in [*claims, *below] if node.score("blended") is None and not node.dropped]


def notes(record: RunRecord) -> list[str]:
    """Return the notes on the verdict, except a note that explains a missing answer."""
    verdict = record.verdict
    if verdict is None:
        return []
    explained = verdict.answer is None and record.status not in ("running", "partial")
    return verdict.notes[1:] if explained and not _notes_are_gaps(record) else verdict.notes


def list_nodes_without_result(record: RunRecord) -> list[tuple[str, list[str]]]:
    """Return the ids of the nodes without a result yet, and of the nodes that were given up."""
    groups = [
        ("Without a result yet", _without(record, "open")),
        ("Given up without a result", _without(record, "missing")),
    ]
    return [(name, ids) for name, ids in groups if ids]


def _without(record: RunRecord, status: str) -> list[str]:
    """Return the ids of the nodes with ``status``. The open topic of a comparison needs no verdict."""
    protocol_view = words.own_view(record)
    needless = record.tree.root if protocol_view is not None and status == "open" else ""
    nodes = record.tree.nodes.values()
    return [n.id for n in nodes if n.status == status and n.id != needless and not n.dropped]
