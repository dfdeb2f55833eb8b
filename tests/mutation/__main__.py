"""Draw mutants, see which of them the tests notice, and fail below a mark: ``make mutants``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from .drawing import FOLDERS, digest_of, draw, source_files
from .mutants import Mutant, find_mutants
from .recording import load_recording
from .report import comparison_lines, progress_line, report_lines, unmatched_lines
from .results import PASS_MARK, ResultsFile, count, read_equivalents, read_results, result_of
from .sessions import OWN_FOLDER, Session
from .settling import Settler

FOLDER = Path(".mutants")
"""Where results are kept, unless told otherwise; Git ignores it."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--seed", type=int, default=4, help="another seed draws other mutants")
    parser.add_argument("--count", type=int, default=200, help="how many mutants to draw")
    parser.add_argument(
        "--ways", type=int, default=len(os.sched_getaffinity(0)), help="runs at the same time"
    )
    parser.add_argument("--tree", type=Path, default=Path(), help="another checkout to test")
    parser.add_argument("--out", type=Path, help="file of results; one that exists goes on")
    parser.add_argument(
        "--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"), help="compare two such files"
    )
    options = parser.parse_args()
    if options.compare:
        return compare(*options.compare)
    # Ended from outside, it waits for the mutants that run, as after Ctrl-C, and cleans up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return run(options.tree.resolve(), options.seed, options.count, options.ways, options.out)


def run(tree: Path, seed: int, number: int, ways: int, out: Path | None) -> int:
    """Run ``number`` mutants of ``tree``, or what an earlier run left of them; print a report.

    Returns:
        Status to exit with: 0 if enough mutants were noticed.
    """
    sources = source_files(tree)
    drawn = draw(sources, seed, number)
    about = {
        "seed": seed,
        "count": number,
        "sources": digest_of(tree, FOLDERS),
        "tests": digest_of(tree, ["tests"], without=OWN_FOLDER),
    }
    folder = (FOLDER / "-".join(map(str, about.values()))).resolve()
    results_file = ResultsFile(out or folder / "results.jsonl", about)
    settle_all(tree, drawn, results_file, folder, ways)
    results, equivalents = read_results(results_file.path), read_equivalents()
    candidates = [mutant for item in sources.items() for mutant in find_mutants(*item)]
    for line in (*report_lines(results, equivalents), *unmatched_lines(equivalents, candidates)):
        print(line)
    return int(count(results, equivalents).score < PASS_MARK)


def settle_all(
    tree: Path, drawn: Sequence[Mutant], results_file: ResultsFile, folder: Path, ways: int
) -> None:
    """Settle the mutants that ``results_file`` does not have yet, and add them."""
    done = {result.key for result in read_results(results_file.path)}
    todo = {number: mutant for number, mutant in enumerate(drawn) if mutant.key not in done}
    print(f"{len(drawn)} mutants drawn, {len(todo)} to run; results: {results_file.path}")
    if not todo:
        return
    recording = load_recording(tree, drawn, folder, ways)
    print(f"{len(recording.seconds)} tests pass without a mutant", flush=True)
    for test in recording.failed:
        print(f"Left out, as it fails without a mutant: {test}", flush=True)
    code = folder / "code"
    with Session(tree, code) as session, ThreadPoolExecutor(ways) as pool:
        settler = Settler(tree, session, recording, code)
        running = {pool.submit(settler.settle, *item): item[1] for item in todo.items()}
        try:
            for place, future in enumerate(as_completed(running), len(done) + 1):
                result = result_of(running[future], future.result())
                results_file.add(result)
                print(progress_line(place, len(drawn), result), flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # waits for those that run
            raise
    for test in sorted(settler.unfit):
        print(f"Left out, as it fails in a fork without a mutant: {test}")


def compare(before: Path, after: Path) -> int:
    """Print the mutants that were noticed before and are not now; return 1 if there are any."""
    lines = list(comparison_lines(read_results(before), read_results(after)))
    print("\n".join(lines) or "Every mutant that was noticed before is noticed now.")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
