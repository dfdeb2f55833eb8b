"""Upload an evaluation to LangSmith: the data set, and an experiment for each row, with scores.

Only ``--langsmith`` uploads. Every id is derived from its content, so a second upload finds the
entries of the first.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from dialectree.errors import InputError, Unreachable
from dialectree.evals.dataset_items import Item
from dialectree.evals.results import EvaluationFile, Result, Row
from dialectree.text import line

if TYPE_CHECKING:
    from langsmith import Client
    from langsmith.schemas import Dataset, TracerSession

_OURS = UUID("5d0d9c0c-0f5e-5c0e-9a53-64a2d2a1e7f1")
BATCH = 200
"""Examples in one request."""
SIDE_BY_SIDE = 8
"""Results to send concurrently."""
_INFO: dict[str, Any] = {"instance_flags": {"dataset_examples_multipart_enabled": False}}
"""Properties of the server; without these the client would first ask the server for them."""


def upload(evaluation: EvaluationFile, results: Iterable[Result], items: Sequence[Item], project: str) -> str:
    """Send the items as a data set, and every row's results as an experiment named ``project``.

    Return one line on the upload. With several rows an experiment is named after project and row.
    Key and address come from LangSmith's environment variables. Raises InputError if
    the key is missing, if LangSmith refuses the upload, or if an experiment of that name belongs to
    another evaluation; Unreachable if no server answers.
    """
    if not items:
        raise InputError("--langsmith: the folder has no items, only results")
    items_by_id = {item.id: item for item in items}
    several_rows = len(evaluation.rows) > 1
    names = {row.name: f"{project} {row.name}" if several_rows else project for row in evaluation.rows}
    uploads = [result for result in results if result.row in names and result.item in items_by_id]
    with _client() as client, ThreadPoolExecutor(SIDE_BY_SIDE) as workers:
        dataset = _dataset(client, evaluation)
        new = _send_examples(client, dataset, evaluation, items)
        for row in evaluation.rows:
            experiment = _experiment(client, dataset, evaluation, row, names[row.name])

            def send(result: Result, experiment: TracerSession = experiment) -> None:
                _send(client, experiment, evaluation, items_by_id[result.item], result)

            list(workers.map(send, (result for result in uploads if result.row == row.name)))
    return (
        f"LangSmith: data set {dataset.name} ({new} new examples), "
        f"{'experiments' if several_rows else 'experiment'} {', '.join(names.values())} "
        f"({len(uploads)} runs)"
    )


def require_key() -> None:
    """Raise InputError if an upload would fail for lack of a key; send nothing."""
    with _client():
        pass


@contextmanager
def _client() -> Iterator[Client]:
    """Yield a client that sends immediately and traces nothing itself; turn its errors into ours."""
    from langsmith import Client, utils

    log = logging.getLogger("langsmith")
    before = log.level
    log.setLevel(logging.CRITICAL)  # it logs a traceback for each error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            client = Client(auto_batch_tracing=False, info=_INFO)
        if client.api_key is None and "//api.smith" in client.api_url:
            raise InputError("--langsmith: LANGSMITH_API_KEY is not set")
        yield client
    except (utils.LangSmithConnectionError, utils.LangSmithRequestTimeout) as error:
        raise Unreachable(f"LangSmith cannot be reached: {line(str(error), 300)}") from error
    except utils.LangSmithError as error:
        raise InputError(f"LangSmith refuses: {line(str(error), 300)}") from error
    finally:
        log.setLevel(before)


def _dataset(client: Client, evaluation: EvaluationFile) -> Dataset:
    from langsmith.utils import LangSmithNotFoundError

    data = evaluation.data
    name = f"{data.name} {data.sha256[:12]}"
    with suppress(LangSmithNotFoundError):
        dataset: Dataset = client.read_dataset(dataset_name=name)
        return dataset
    return client.create_dataset(name, metadata={"sha256": data.sha256, "task": evaluation.task})


def _send_examples(
    client: Client, dataset: Dataset, evaluation: EvaluationFile, items: Sequence[Item]
) -> int:
    """Send the items that the data set lacks; return their number."""
    example_ids = {example.id for example in client.list_examples(dataset_id=dataset.id)}
    examples = [{"id": _example_id(evaluation, item), **item.example()} for item in items]
    new = [example for example in examples if example["id"] not in example_ids]
    for begin in range(0, len(new), BATCH):
        client.create_examples(dataset_id=dataset.id, examples=new[begin : begin + BATCH])
    return len(new)


def _experiment(
    client: Client, dataset: Dataset, evaluation: EvaluationFile, row: Row, name: str
) -> TracerSession:
    from langsmith.utils import LangSmithNotFoundError

    experiment_id = str(_id(evaluation.data.sha256, evaluation.started, row.model_dump_json()))
    with suppress(LangSmithNotFoundError):
        experiment: TracerSession = client.read_project(project_name=name)
        if (experiment.metadata or {}).get("dialectree") != experiment_id:
            raise InputError(
                f"--langsmith: there is an experiment {name!r} already, of another evaluation: "
                "give another name"
            )
        return experiment
    metadata = {
        "dialectree": experiment_id,
        **row.model_dump(mode="json", include={"method", "models", "settings"}),
        **evaluation.model_dump(mode="json", include={"judge", "seed", "versions"}),
    }
    return client.create_project(name, metadata=metadata, reference_dataset_id=dataset.id)


def _send(
    client: Client, experiment: TracerSession, evaluation: EvaluationFile, item: Item, result: Result
) -> None:
    """Send one result with its scores; the client skips a run that exists."""
    from langsmith.utils import LangSmithConflictError

    end = datetime.fromisoformat(result.ended)
    start = end - timedelta(seconds=result.seconds)
    run = _run_id(str(experiment.id), result, start)
    described = {"status": result.status, "category": result.category, "run": result.run}
    client.create_run(
        name=result.row,
        inputs=item.example()["inputs"],
        run_type="chain",
        id=run,
        trace_id=run,
        dotted_order=f"{start:%Y%m%dT%H%M%S%fZ}{run}",
        project_name=experiment.name,
        reference_example_id=_example_id(evaluation, item),
        start_time=start,
        end_time=end,
        outputs=None if result.verdict is None else result.verdict.model_dump(mode="json"),
        error=result.fault,
        extra={"metadata": {**described, **result.usage.model_dump(mode="json")}},
    )
    for score in result.scores:
        with suppress(LangSmithConflictError):
            client.create_feedback(
                run_id=run,
                key=score.key,
                score=score.score,
                value=score.value,
                comment=score.comment or None,
                feedback_id=_id(str(run), score.key),
                session_id=experiment.id,
                start_time=start,
                stop_after_attempt=3,
            )


def _id(*parts: str) -> UUID:
    return uuid5(_OURS, "\x1f".join(parts))


def _example_id(evaluation: EvaluationFile, item: Item) -> UUID:
    return _id(evaluation.data.sha256, item.id)


def _run_id(experiment: str, result: Result, start: datetime) -> UUID:
    """Return a UUID of version 7: the time, followed by a digest of the run's name."""
    name = f"{experiment}\x1f{result.row}\x1f{result.item}\x1f{result.ended}"
    random = int.from_bytes(sha256(name.encode()).digest()[:10], "big")
    milliseconds = int(start.timestamp() * 1000) & (1 << 48) - 1
    number = milliseconds << 80 | random & ~(0xF << 76) | 0x7 << 76
    return UUID(int=number & ~(0x3 << 62) | 0x2 << 62)
