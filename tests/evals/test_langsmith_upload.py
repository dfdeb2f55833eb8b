"""Uploading to LangSmith: whole, once however often, and never unasked."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from dialectree.cli.evaluation_report import report_after_run, upload_after_run
from dialectree.errors import InputError, Unreachable
from dialectree.evals.reporting.study import study
from tests.evals import sample
from tests.evals.langsmith_server import LangSmith
from tests.nobody import nobody


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LangSmith]:
    with LangSmith() as serving:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", serving.address)
        monkeypatch.setenv("LANGSMITH_API_KEY", "a-key")
        monkeypatch.setenv("LANGSMITH_TRACING", "true")
        yield serving


def test_a_data_set_and_an_experiment_for_each_row_arrive(
    server: LangSmith, tmp_path: Path
) -> None:
    folder = sample.evaluation(tmp_path, "decide", 6)
    message = upload_after_run(folder, "spring")
    found = study([folder])
    (dataset,) = server.datasets.values()
    assert dataset["name"] == f"made-up {sample.SHA[:12]}"
    examples = {one["metadata"]["id"]: one for one in server.examples.values()}
    assert [*examples] == found.items
    assert {"question", "options"} == set(examples["q1"]["inputs"])
    assert examples["q1"]["outputs"] == {"gold": found.texts["q1"].reference.gold}
    names = [f"spring {name}" for name in found.rows]
    assert [one["name"] for one in server.sessions.values()] == names
    assert {one["reference_dataset_id"] for one in server.sessions.values()} == {dataset["id"]}
    assert len(server.runs) == 24 and "(24 runs)" in message
    for run in server.runs.values():
        example = server.examples[run["reference_example_id"]]
        result = found.rows[run["name"]].results[example["metadata"]["id"]]
        assert run["inputs"] == example["inputs"]
        assert (run["outputs"] or {}).get("label") == (result.verdict and result.verdict.label)
        assert run["end_time"] == "2026-01-31T12:00:00+00:00"
        marks = [f for f in server.feedback.values() if f["run_id"] == run["id"]]
        assert [f.get("score") for f in marks] == [score.score for score in result.scores]
        assert UUID(run["id"]).version == 7


def test_the_same_upload_again_doubles_nothing(server: LangSmith, tmp_path: Path) -> None:
    folder = sample.evaluation(tmp_path, n=3)
    upload_after_run(folder, "spring")
    before = [dict(kept) for kept in (server.datasets, server.examples, server.sessions)]
    before += [dict(server.runs), dict(server.feedback)]
    message = upload_after_run(folder, "spring")
    after = [server.datasets, server.examples, server.sessions, server.runs, server.feedback]
    assert after == before and server.requests.count(("POST", "/examples/bulk")) == 1
    assert "(0 new examples)" in message


def test_another_evaluation_takes_another_name(server: LangSmith, tmp_path: Path) -> None:
    upload_after_run(sample.evaluation(tmp_path / "a", n=1), "spring")
    other = sample.evaluation(tmp_path / "b", n=1, started="2026-02-01T12:00:00.000000Z")
    with pytest.raises(InputError, match="of another evaluation: give another name"):
        upload_after_run(other, "spring")


def test_without_the_flag_nothing_leaves_the_machine(
    server: LangSmith, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sample.evaluation(tmp_path, n=3)

    def refused(*_: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket.socket, "connect_ex", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    assert report_after_run(folder)[-1].startswith("report: ")
    assert server.requests == []


def test_a_refusal_is_one_line_and_so_is_an_address_without_a_server(
    server: LangSmith, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sample.evaluation(tmp_path, n=1)
    server.refusing = 401
    with pytest.raises(InputError, match="LangSmith refuses") as caught:
        upload_after_run(folder, "spring")
    assert "\n" not in str(caught.value)
    with nobody() as address, pytest.raises(Unreachable, match="LangSmith cannot be reached"):
        monkeypatch.setenv("LANGSMITH_ENDPOINT", address)
        upload_after_run(folder, "spring")
