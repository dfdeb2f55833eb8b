"""``dialectree doctor --try``: measure how well a model debates, and print it as a short table."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import typer

from dialectree.errors import DialectreeError
from dialectree.interfaces.cli.flags import in_flags, notice
from dialectree.interfaces.cli.streams import print_file, print_list_entry
from dialectree.system import loop
from dialectree.text import count, duration
from dialectree.text import format_list as in_words

if TYPE_CHECKING:
    from dialectree.evals.trial_result import Share, TrialResult


def try_model(settings: Mapping[str, Any], *, json: bool) -> None:
    """Measure the model in ``settings``, and print the result; write no file.

    After an interrupt or a failed call, print the figures so far.

    Raises:
        DialectreeError: as in a debate, such as for a model that does not answer.
        typer.Exit: with status 130 after an interrupt.
    """
    from dialectree.evals.model_trial import Trial
    from dialectree.interfaces.cli.progress import counting

    trial, fault, interrupted = Trial(settings), None, False
    try:
        with counting("measured") as report:
            loop.run(trial.measure(report))
    except DialectreeError as error:
        fault, trial.ended_early = error, "a call failed"
    except (KeyboardInterrupt, asyncio.CancelledError):
        interrupted, trial.ended_early = True, "it was interrupted"
        notice("interrupted: the figures rest on the calls so far")
    if trial.has_answer():
        result = trial.result()
        if json:
            print_file(result.model_dump_json(indent=1))
        else:
            print_result(result)
    if fault is not None:
        raise fault
    if interrupted:
        raise typer.Exit(130)


def print_result(result: TrialResult) -> None:
    """Print the table, then remarks on its bad figures."""
    took = f"{count(result.calls, 'call')} in {duration(result.seconds)}"
    print_list_entry(f"{result.model}, asked in the {result.form} form, {took}")
    for name, figure in _rows(result):
        print(f"  {name:32}{figure}")
    if result.minutes:
        times = [f"{duration(60 * time)} for {name}" for name, time in result.minutes.items()]
        print_list_entry(f"a debate takes about {in_words(times)}", indent=2)
    for remark in result.remarks:
        print_list_entry(in_flags(remark))


def _rows(result: TrialResult) -> Iterator[tuple[str, str]]:
    """Yield a name and a figure for each measured row."""
    again = f", {result.repaired.count} after a repair" if result.repaired.count else ""
    shares: list[tuple[str, Share, str]] = [
        ("replies fit the schema", result.fits, again),
        ("second speakers disagree", result.disagree, ""),
        ("turns copied", result.copied, ""),
        ("attacks that attack", result.attacks, " (as the model itself rates them)"),
        (
            "judge chose the first answer",
            result.first_chosen,
            f", and the right one in {result.right_chosen.count}",
        ),
        ("texts cut by a limit", result.cut, ""),
    ]
    for name, share, more in shares:
        if share.n:
            yield name, f"{share}{more}"
    if result.seconds_median is not None:
        tokens = f"{result.prompt_tokens} tokens read and {result.completion_tokens} written"
        yield "seconds a call", f"{result.seconds_median:.1f} (median), {tokens}"
