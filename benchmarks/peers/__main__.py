"""``python -m benchmarks.peers --venvs DIR``: measure, and print figures and a Markdown table."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from benchmarks import figures
from benchmarks.figures import Figure
from benchmarks.peers.programs import PAIRS, Program, ask
from tests.endpoint import LocalEndpoint

LATENCY_S = 0.2
FAULTS = ("http_500", "http_429", "hang", "empty", "malformed_json")
RATE = 1 - 0.7 ** (1 / len(FAULTS))
"""The rate of each fault, so that three calls in ten have a fault."""
BEHAVIOUR: dict[str, Any] = {
    "call_tools": True,
    # An advocate of enbanc may cite what its tools returned, and it has none here.
    "rules": [{"match": "", "set": {"exhibits": []}}],
}
WALL, CPU = "wall", "CPU, ms"
TIMED = ("calls", "in a row", "prompt tokens", "completion tokens", WALL, CPU)
"""Columns of a verdict. The wall time is divided by that of the calls in a row."""
CAME = "came of 20"
"""Column of the verdicts under faults."""
COLUMNS = (*TIMED, CAME)
Measured = Mapping[Program, defaultdict[str, list[float]]]
"""The values of each column."""


def main() -> int:
    """Make the environments that are missing, measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--venvs", type=Path, required=True, metavar="DIR", help="environments")
    parser.add_argument("--repeats", type=int, default=8, help="verdicts to time, after a first")
    parser.add_argument("--twenties", type=int, default=5, help="times 20 verdicts under faults")
    parser.add_argument("--json", type=Path, metavar="FILE", help="leave the figures there too")
    asked = parser.parse_args()
    venvs = asked.venvs.resolve()
    measured: Measured = {one: defaultdict(list) for _, *some in PAIRS for one in some}
    for program in measured:
        program.install(venvs)
    with tempfile.TemporaryDirectory() as folder:
        _time(measured, venvs, Path(folder) / "timed", asked.repeats)
        lost = _fail(measured, venvs, Path(folder) / "failed", asked.twenties)
    found = list(_figures(measured))
    figures.show(found, Console(width=None if sys.stdout.isatty() else 140))
    print("\n".join(_markdown(measured)))
    print(f"\nload of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for reason, count in sorted(lost.items()):
        print(f"{count} lost by {reason}")
    if asked.json:
        figures.write(found, asked.json)
    return 0


def _time(measured: Measured, venvs: Path, folder: Path, repeats: int) -> None:
    """Let every program give a verdict in turn, so that a busy moment affects all of them."""
    with ExitStack() as stack:
        endpoint = stack.enter_context(LocalEndpoint(latency_ms=1000 * LATENCY_S, **BEHAVIOUR))
        driven = {
            program: stack.enter_context(program.driven(venvs, endpoint.url, folder / program.title))
            for program in measured
        }
        for n in range(repeats + 1):
            print(f"timing {n} of {repeats} ...", file=sys.stderr, flush=True)
            for program, columns in measured.items():
                endpoint.reset()
                reply = ask(driven[program], f"Is fire number {n} hot?")
                if not reply["answer"]:
                    raise SystemExit(f"{program.title} gave no verdict: {reply['error']}")
                calls = endpoint.calls()
                chain = _in_a_row(calls)
                values = (
                    len(calls),
                    chain,
                    sum(call["prompt_tokens"] for call in calls),
                    sum(call["completion_tokens"] for call in calls),
                    reply["wall_s"] / (chain * LATENCY_S),
                    1000 * reply["cpu_s"],
                )
                if n:  # the first one imports
                    for name, value in zip(TIMED, values, strict=True):
                        columns[name].append(value)


def _fail(measured: Measured, venvs: Path, folder: Path, twenties: int) -> Counter[str]:
    """Count the verdicts of each program under faults, all programs at once."""
    lost: Counter[str] = Counter()

    def count(program: Program) -> None:
        faults = dict.fromkeys(FAULTS, RATE)
        with (
            LocalEndpoint(latency_ms=20, **BEHAVIOUR, **faults) as endpoint,
            program.driven(venvs, endpoint.url, folder / program.title) as process,
        ):
            for n in range(twenties):
                replies = [ask(process, f"Is ice number {n}.{k} cold?") for k in range(20)]
                came = sum(bool(reply["answer"]) for reply in replies)
                measured[program][CAME].append(came)
                lost.update(
                    f"{program.title}: {reply['error'] or 'an empty answer'}"
                    for reply in replies
                    if not reply["answer"]
                )
        print(f"counted {program.title}", file=sys.stderr, flush=True)

    with ThreadPoolExecutor(len(measured)) as threads:
        list(threads.map(count, measured))
    return lost


def _in_a_row(calls: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of calls that waited for one another: the most without an overlap."""
    count, over = 0, 0.0
    for call in sorted(calls, key=lambda call: float(call["ended"])):
        if call["arrived"] >= over:
            count, over = count + 1, call["ended"]
    return count


def _figures(measured: Measured) -> Iterator[Figure]:
    for program, columns in measured.items():
        for name, values in columns.items():
            spread = f"{min(values):.2f} to {max(values):.2f} of {len(values)}"
            yield Figure(program.title, name, median(values), note=spread)


def _markdown(measured: Measured) -> Iterator[str]:
    """Yield the table for the documents: medians, and minima of what a busy machine raises."""
    yield f"| | {' | '.join(COLUMNS)} |"
    yield f"| --- |{' --- |' * len(COLUMNS)}"
    for debate, *programs in PAIRS:
        yield f"| *{debate}* |{' |' * len(COLUMNS)}"
        for program in programs:
            cells = [_cell(name, measured[program][name]) for name in COLUMNS]
            yield f"| {program.title} | {' | '.join(cells)} |"


def _cell(name: str, values: Sequence[float]) -> str:
    if not values:
        return ""
    form = ".2f" if name == WALL else ",.0f"
    least, middle, most = (f"{of(values):{form}}" for of in (min, median, max))
    if name == CAME and least != most:
        return f"{middle} ({least} to {most})"
    return f"{middle} ({least})" if name in (WALL, CPU) else middle


if __name__ == "__main__":
    sys.exit(main())
