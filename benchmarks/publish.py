"""``python -m benchmarks.publish EVALUATION FOLDER``: keep an evaluation without any text in it.

An evaluation's folder holds the data set's questions and what models wrote about them. The figures
need neither. ``evaluation.json`` is kept as it is, but for the path of the data. Of
``results.jsonl`` labels, scores and counts are kept. The evaluation goes on in such a folder by the
command that began it, and ``dialectree eval report`` reads it once the questions are there again.
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
    """Return a copy with labels, scores and counts, and without a word of question or reply."""
    verdict = result.verdict and result.verdict.model_copy(
        update={"answer": result.verdict.label, "rationale": None, "notes": []}
    )
    scores = [score.model_copy(update={"comment": ""}) for score in result.scores]
    return result.model_copy(update={"verdict": verdict, "scores": scores})


def publish(evaluation: Path, folder: Path) -> int:
    """Write the figures of ``evaluation`` to ``folder``; return how many results it has.

    Raises:
        InputError: There is no evaluation, or an answer has no label to stand for its text.
    """
    whole = Folder(evaluation)
    begun = whole.require_evaluation()
    results = list(whole.results())
    for result in results:
        if result.verdict and result.verdict.answer and result.verdict.label is None:
            raise InputError(f"the answer to {result.item} has no label, so that its text would go")
    named = begun.data.path and Path(begun.data.path).name
    begun = begun.model_copy(update={"data": begun.data.model_copy(update={"path": named})})
    lines = [strip_texts(one).model_dump_json(exclude_defaults=True) + "\n" for one in results]
    replace_file(folder / "evaluation.json", begun.model_dump_json(indent=1) + "\n", _AGAIN)
    replace_file(folder / "results.jsonl", "".join(lines), _AGAIN)
    return len(results)


def main() -> int:
    """Publish the evaluation that is named; 2 where there is none."""
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
