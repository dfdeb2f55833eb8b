"""``python -m benchmarks.publish EVALUATION FOLDER``: copy an evaluation without its texts.

An evaluation's folder has the data set's questions and the models' texts. The figures need neither.
The copy has ``evaluation.json`` with a shorter path of the data, and the labels, scores and counts
of ``results.jsonl``. The command that began the evaluation can continue it in the copy, and
``dialectree eval report`` can read the copy when the questions are available again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dialectree.errors import InputError
from dialectree.evals.results import Result
from dialectree.evals.results_file import Folder, replace_file

_AGAIN = "publish it again"


def strip_texts(result: Result) -> Result:
    """Return a copy with labels, scores and counts, without the texts of questions and replies."""
    verdict = result.verdict and result.verdict.model_copy(
        update={"answer": result.verdict.label, "rationale": None, "notes": []}
    )
    scores = [score.model_copy(update={"comment": ""}) for score in result.scores]
    return result.model_copy(update={"verdict": verdict, "scores": scores})


def publish(evaluation: Path, folder: Path) -> int:
    """Write the figures of ``evaluation`` to ``folder``; return the number of results.

    Raises:
        InputError: The evaluation is missing, or an answer has no label to replace its text.
    """
    whole = Folder(evaluation)
    begun = whole.require_evaluation()
    results = list(whole.results())
    for result in results:
        if result.verdict and result.verdict.answer and result.verdict.label is None:
            raise InputError(f"the answer to {result.item} has no label, so the copy would lose it")
    named = begun.data.path and Path(begun.data.path).name
    begun = begun.model_copy(update={"data": begun.data.model_copy(update={"path": named})})
    lines = [strip_texts(one).model_dump_json(exclude_defaults=True) + "\n" for one in results]
    replace_file(folder / "evaluation.json", begun.model_dump_json(indent=1) + "\n", _AGAIN)
    replace_file(folder / "results.jsonl", "".join(lines), _AGAIN)
    return len(results)


def main() -> int:
    """Publish the evaluation; return 2 if that fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.publish", description=__doc__)
    parser.add_argument("evaluation", type=Path)
    parser.add_argument("folder", type=Path)
    named = parser.parse_args()
    try:
        count = publish(named.evaluation, named.folder)
    except InputError as error:
        print(f"benchmarks.publish: {error}", file=sys.stderr)
        return 2
    print(f"{named.folder}: {count} results")
    return 0


if __name__ == "__main__":
    sys.exit(main())
