"""Make a memo of a run: one or two pages for a reader who was not there.

The memo says what was asked and answered, what speaks on either side, what the confidence means and
how the answer was made. All of it comes from the record.
"""

from __future__ import annotations

from collections.abc import Iterator

from dialectree.records import RunRecord, Verdict
from dialectree.records.run import ILLUSTRATION
from dialectree.report import arguments, contested, exchange, verdicts, words
from dialectree.report.citations import CitedNotes
from dialectree.report.excerpts import first_sentences
from dialectree.report.figures import format_moment, format_money, format_percent, format_share
from dialectree.report.memo_blocks import (
    LONGEST,
    Memo,
    MemoBlock,
    MemoLine,
    bullets,
    heading,
    line,
    paragraph,
    strong,
)
from dialectree.report.memo_confidence import explain_confidence
from dialectree.report.memo_sides import both_sides, current_sentences, ranked_arguments
from dialectree.text import count, duration, figure, format_list
from dialectree.text import line as shorten

_TITLE, _REMARK, _REASON, _SHORT = 200, 300, 420, 160
"""The most characters of a title, a remark, a reason and a short text."""
_MOST = 6
"""The most items of a list."""


def make_memo(record: RunRecord) -> Memo:
    """Return the memo of a run, from any version of its record and of any protocol."""
    citations = CitedNotes(record)
    blocks = [
        *_question(record),
        *_answer(record, citations),
        *_reason(record),
        *both_sides(record, citations),
        *explain_confidence(record),
        *_contest(record),
        *_remarks(record),
    ]
    if citations.left_out:
        more = count(citations.left_out, "more cited sentence")
        blocks.append(paragraph(f"The report of the run has {more}."))
    moment = format_moment(record.started) if record.started else ""
    return Memo(
        title=shorten(words.question(record), _TITLE) or "–",
        subtitle=shorten(" · ".join(filter(None, ["Memo", words.method(record), moment])), _REMARK),
        blocks=blocks,
        notes=citations.notes,
        facts=[(name, shorten(value, _REMARK)) for name, value in _facts(record)],
    )


def _question(record: RunRecord) -> Iterator[MemoBlock]:
    """Yield the warnings, the whole question if the title shortens it, options and documents."""
    yield from (MemoBlock("warning", (line(text),)) for text in verdicts.banners(record))
    if record.status != "answered":
        yield MemoBlock("warning", (line(shorten(verdicts.state(record), _REMARK)),))
    question = words.question(record)
    if shorten(question, _TITLE) != " ".join(question.split()):
        yield MemoBlock("quote", (line(shorten(question, LONGEST)),))
    options = [f"{option.letter}: {shorten(option.text, _SHORT)}" for option in exchange.options(record)]
    if options:
        yield paragraph(strong("Options: "), "; ".join(options))
    protocol_view = words.own_view(record)
    yield from bullets(protocol_view.grounds(record)[:_MOST] if protocol_view is not None else ())
    names = [shorten(str(source.get("name", source.get("id"))), _SHORT) for source in record.sources]
    if names:
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        yield paragraph(strong("Sources: "), ", ".join(names[:_MOST]) + more)


def _answer(record: RunRecord, citations: CitedNotes) -> Iterator[MemoBlock]:
    yield heading("Comparison" if words.compares(record) else "Answer")
    verdict = record.verdict
    if verdict is None or verdict.answer is None:
        over = record.status not in ("running", "partial")
        yield MemoBlock(
            "answer", (line(verdicts.describe_missing_answer(record) if over else verdicts.pending(record)),)
        )
        return
    notes = citations.cite((ground.id for ground in verdict.grounds), verdict.answer, most=_MOST)
    yield MemoBlock("answer", (_answer_line(record, verdict, notes),))


def _answer_line(record: RunRecord, verdict: Verdict, notes: tuple[int, ...]) -> MemoLine:
    """Return ``Option B: Random UUIDs · confidence 0.78``, ``True · 65 % probability`` or a summary."""
    answer = shorten(verdict.answer or "", LONGEST) or "–"
    if sentences := current_sentences(record):
        parts = [sentence.part for sentence in sentences]
        shared, differing = count(parts.count("similarity"), "point"), parts.count("difference")
        return line(f"The papers share {shared} and differ in {differing}, as told below.", notes=notes)
    if words.compares(record):
        return line(answer, notes=notes)
    options = {option.letter for option in exchange.options(record)}
    letter = f"Option {verdict.label}: " if verdict.label in options and verdict.label != answer else ""
    shown = f"{letter}{answer}"
    figure_text = f" · confidence {format_share(verdict.confidence)}"
    if verdict.probable and verdict.confidence is not None:
        of = "probability" if answer == "True" else "probability that the claim is true"
        figure_text = f" · {format_percent(verdict.confidence)} {of}"
    emphasised = strong(shown) if len(shown) <= _SHORT else shown
    return line(emphasised, figure_text, _calibrated(verdict), notes=notes)


def _calibrated(verdict: Verdict) -> str:
    if verdict.calibrated is None:
        return ""
    return f" as stated; {verdicts.format_calibrated_confidence(verdict.calibrated)}"


def _reason(record: RunRecord) -> Iterator[MemoBlock]:
    """Yield why this is the answer, in one or two sentences."""
    verdict = record.verdict
    if verdict is None or verdict.answer is None or current_sentences(record):
        return
    text = _compare_strengths(record) or first_sentences(verdict.rationale or "", 2, _REASON)
    if text:
        yield heading("Why")
        yield paragraph(text)


def _compare_strengths(record: RunRecord) -> str:
    """Return how the arguments of either side weigh, if the verdict follows from their strengths."""
    supporting, attacking = ranked_arguments(record, "support"), ranked_arguments(record, "attack")
    if not supporting and not attacking:
        return ""
    strengths = format_list(
        f"{figure(ranked[0].score('strength'))} {side} it"
        for ranked, side in ((supporting, "for"), (attacking, "against"))
        if ranked
    )
    number, speak = count(len(supporting), "argument"), "speaks" if len(supporting) == 1 else "speak"
    return (
        f"{number} {speak} for the claim and {len(attacking) or 'none'} against it. The strength of the "
        f"strongest is {strengths}, on a scale from 0 to 1."
    )


def _contest(record: RunRecord) -> Iterator[MemoBlock]:
    """Yield what a person changed, and each verdict before and after."""
    contest = record.contest
    if contest is None:
        return
    yield heading("What was contested")
    yield paragraph(f"This contests run {contest.run}.")
    before, after = contested.verdicts(contest)
    changed = [f"{shorten(change, _SHORT)}" for change in contested.list_changes_without_text(contest)]
    changed += [_before_and_after(text) for text in contested.texts(contest)]
    yield from bullets(changed[:_MOST])
    yield paragraph(
        strong("The verdict: "), f"{shorten(before, _SHORT)} before, {shorten(after, _SHORT)} after."
    )
    if contest.why:
        yield paragraph(first_sentences(contest.why, 2, _REASON))
    steps = contested.steps(record)
    yield from bullets(_before_and_after(step) for step in steps[:_MOST])
    if len(steps) > _MOST:
        yield paragraph(f"{count(len(steps) - _MOST, 'more node')} moved.")


def _before_and_after(change: contested.Changed) -> str:
    title = f"{change.node} {shorten(change.title, _SHORT)}".strip()
    return f"{title}: {shorten(change.before, _SHORT) or '–'} → {shorten(change.after, _SHORT) or '–'}"


def _remarks(record: RunRecord) -> Iterator[MemoBlock]:
    """Yield the remarks on the verdict, and the parts of the debate that failed."""
    remarks = [note for note in verdicts.notes(record) if not _is_banner(record, note)]
    remarks += record.notices
    remarks += [f"{node}: {words.describe_failure(failure)}" for node, failure in record.list_failures()]
    if remarks:
        yield heading("Worth knowing")
        yield from bullets(shorten(remark, _REMARK) for remark in remarks[:_MOST])
        if len(remarks) > _MOST:
            yield paragraph(f"The report of the run has {count(len(remarks) - _MOST, 'more remark')}.")


def _is_banner(record: RunRecord, note: str) -> bool:
    """Return whether a note says what a warning at the top says."""
    return record.illustration and note.startswith("an illustration:")


def _facts(record: RunRecord) -> Iterator[tuple[str, str]]:
    """Yield how the answer was made."""
    usage = record.usage
    yield "Method", words.method(record)
    if source := record.get_declaration().source:
        yield "Source", shorten(source, _SHORT)
    yield "Debate", verdicts.basis(record)
    if computed := arguments.reckoning(record):
        yield "Strengths", "; ".join(computed)
    if record.models:
        yield "Models", _models(record)
    cached = f" ({usage.calls_from_cache:,} from the reply cache)" if usage.calls_from_cache else ""
    took = f", {duration(usage.wall_s)}" if usage.wall_s else ""
    yield "Calls", f"{usage.calls:,}{cached}{took}"
    yield "Tokens", f"{usage.prompt_tokens:,} in prompts, {usage.completion_tokens:,} in replies"
    yield "Cost", "not priced" if usage.cost is None else format_money(usage.cost)
    if record.started:
        ended = f", ended {format_moment(record.ended)}" if record.ended else ""
        yield "Date", f"{format_moment(record.started)}{ended}"
    yield "Run", f"{record.run_id} ({record.status})"
    if version := record.versions.get("dialectree"):
        yield "Version", f"dialectree {version}"


def _models(record: RunRecord) -> str:
    """Return the models with their roles."""
    roles: dict[str, list[str]] = {}
    for role, specs in record.models.items():
        name = "replies written by hand" if specs == ILLUSTRATION else shorten(specs, _SHORT)
        roles.setdefault(name, []).append(role.replace("_", " "))
    if len(roles) == 1:
        return f"{next(iter(roles))}, in all roles"
    listed = [f"{name} ({format_list(names)})" for name, names in [*roles.items()][:_MOST]]
    return "; ".join([*listed, *([f"{len(roles) - _MOST} more"] if len(roles) > _MOST else [])])
