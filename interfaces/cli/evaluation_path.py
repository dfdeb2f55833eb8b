"""Name the next command on the path of an evaluation: evaluate, audit, route, calibrate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from dialectree.interfaces.cli.streams import program, say
from dialectree.interfaces.cli.wrong_calls import join_words

if TYPE_CHECKING:
    from dialectree.evals.audit import Audit
    from dialectree.evals.calibration_fit import CalibrationFit
    from dialectree.evals.plan import Plan

STEPS: Mapping[str, tuple[str, str]] = {
    "evaluate": ("DATASET", "ask every question by every method"),
    "audit": ("audit DATASET", "say whether a debate is worth it with these models"),
    "route": ("route DIR", "say below which agreement of votes a debate pays"),
    "calibrate": ("calibrate DIR", "fit stated confidences to right answers"),
}
"""The steps in their order, each with the words of its command and its purpose."""
_CARRIED = ("data", "columns", "cluster", "limit", "sample", "judge")
"""Options of an evaluation that hold for the next step, too."""
VOTES = 3
"""Votes before each debate, if none are asked for yet."""


def list_steps() -> list[tuple[str, str]]:
    """Return each step's command, with its number, name and purpose."""
    return [
        (f"eval {words}", f"{number}. {name}: {purpose}")
        for number, (name, (words, purpose)) in enumerate(STEPS.items(), 1)
    ]


def print_next(step: str, words: list[str], remark: str = "") -> None:
    """Print on stderr what the next step is for, and its command, ready to paste."""
    number = [*STEPS].index(step) + 1
    say(f"Next, step {number} of {len(STEPS)}, {step}: {STEPS[step][1]}{remark}")
    say(f"  {program()} {join_words(words)}")


def after_evaluation(
    dataset: str, plan: Plan, options: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Name the route if models voted before the debates, else the audit of the same questions."""
    from dialectree.evals import answer_scoring, tasks
    from dialectree.protocols.routes import ALWAYS

    folder = plan.folder.path
    right = tasks.TASKS[plan.task].right
    if right and not any(answer_scoring.applies(right, item) for item in plan.items):
        return  # every later step compares right answers
    early = [(row.context, row.method.protocol.early) for row in plan.rows]
    all_debated = any(end and getattr(context, end.threshold) >= ALWAYS for context, end in early)
    if plan.evaluation.vote_first > 1 or all_debated:
        print_next("route", ["eval", "route", str(folder)])
        return
    debates = [row.method.name for row in plan.rows if not row.method.variant.baseline]
    usual = tasks.usual_method(plan.task)
    debate = usual if usual in debates or not debates else debates[0]
    flags = [] if debate == usual else ["--debate", debate]
    words = [*flags, *_carry(options, settings, debate), "--out", _name_next_folder(folder, "audit")]
    print_next("audit", ["eval", "audit", dataset, *words])


def after_audit(
    dataset: str, planned: Audit, options: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Name the evaluation with votes that a route needs; the calibration if nobody can vote first."""
    from dialectree.evals import tasks

    folder, names = planned.plan.folder.path, planned.layout.debates
    debate = next(entry.method for entry in planned.rows if entry.name == names[0])
    if tasks.TASKS[planned.plan.task].right is None:
        return
    if debate not in tasks.debates():
        _name_calibration(folder)
        return
    voting = ["--methods", debate, "--vote-first", str(VOTES)]
    words = [*voting, *_carry(options, settings, debate), "--out", _name_next_folder(folder, "votes")]
    print_next("route", ["eval", dataset, *words], f"; it needs {VOTES} votes before each debate")


def after_route(folder: Path) -> None:
    """Name the calibration."""
    _name_calibration(folder)


def after_calibration(folder: Path, fits: list[CalibrationFit], row: str | None, saved: Path | None) -> None:
    """Name the command that saves the calibrations, or a debate that uses the saved ones."""
    from dialectree.protocols.protocol import load_protocols

    found = [fit.calibration for fit in fits if fit.calibration is not None and not fit.refusal]
    if not found:
        say("The path ends here: no calibration improves the confidences.")
    elif saved is None:
        rows = [] if row is None else ["--row", row]
        words = ["eval", "calibrate", str(folder), *rows, "--save", str(folder / "calibration.json")]
        print_next("calibrate", words, "; save it for later debates")
    else:
        protocol = load_protocols()[found[0].protocol]
        say("The path ends here. A debate of the same models takes the calibration:")
        flag = join_words(["--calibration", str(saved)])
        say(f"  {program()} run {protocol.name} {protocol.examples[0]} {flag}")


def _name_calibration(folder: Path) -> None:
    from dialectree.evals.calibration_fit import LEAST
    from dialectree.evals.results_file import Folder

    last = {(result.row, result.item): result for result in Folder(folder).results()}.values()
    sure = Counter(result.row for result in last if result.verdict and result.verdict.confidence is not None)
    most = max(sure.values(), default=0)
    remark = f"; it needs {LEAST} answers of a method, and here are {most}" if most < LEAST else ""
    print_next("calibrate", ["eval", "calibrate", str(folder)], remark)


def _name_next_folder(folder: Path, step: str) -> str:
    """Return a folder for a later step beside that of an earlier one."""
    return str(folder.with_name(f"{folder.name.removesuffix('-audit')}-{step}"))


def _carry(options: Mapping[str, Any], settings: Mapping[str, Any], debate: str) -> list[str]:
    """Return the flags that hold for the next step: its questions, models and limits, and how it debates."""
    from dialectree.evals.options import EvaluationOptions
    from dialectree.interfaces.cli.flags import format_flag
    from dialectree.interfaces.cli.protocol_fields import FIELDS
    from dialectree.protocols.protocol import method
    from dialectree.protocols.settings import SHARED

    carried: list[tuple[type[BaseModel], str, Any]] = [
        (EvaluationOptions, name, options[name]) for name in _CARRIED if name in options
    ]
    read = {*SHARED, *method(debate).reads()} - {"samples"}
    for name, value in settings.items():
        if name == "roles":  # an audit assigns the others itself
            value = {role: spec for role, spec in value.items() if role == "judge"}
        if name in FIELDS and name in read:
            carried.append((FIELDS[name], name, value))
    return [word for flag in carried for word in format_flag(*flag)]
