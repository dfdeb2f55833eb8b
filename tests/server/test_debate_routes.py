"""The routes of a server for the runs in its folder."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from dialectree.interfaces.server import acting, debates, following
from dialectree.interfaces.server.debates import exception_handlers, routes
from dialectree.records import Call, Usage
from dialectree.records.folder import RunFolder
from dialectree.retrieval.blocks import Block
from dialectree.retrieval.sources import Document, documents_folder, write_document
from tests.report.recorded import FOLDERS, calls, events, record
from tests.running.test_old_runs import OLD

DROP = '"changes": [{"change": "drop", "where": "0"}]'


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """Return a client of a server with one run, ``good``."""
    monkeypatch.setenv("DIALECTREE_RUNS", str(tmp_path))
    good = record("rsd").model_copy(update={"run_id": "good"})
    RunFolder.create(tmp_path, "good").write_whole(good, [], [])
    return TestClient(Starlette(routes=[*routes, *acting.routes], exception_handlers=exception_handlers))


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"\xff", b"[" * 100_000, b"[]", b"null", b'"changes"', b'{"changes": null}',
        b'{"changes": []}', b'{"changes": ["drop"]}', b'{"changes": [{"change": 1, "where": "0"}]}',
        b'{"changes": [{"change": "\\ud800", "where": "0"}]}',
        *(f'{{{DROP}, "settings": {one}}}'.encode() for one in ("1", '"max_calls"', "[1]", "NaN")),
        f'{{{DROP}, "settings": {{"max_calls": "x"}}}}'.encode(),
        f'{{{DROP}, "more": 1}}'.encode(),
    ],
)  # fmt: skip
def test_a_contest_whose_body_is_of_another_shape_is_refused_in_one_line(
    client: TestClient, body: bytes
) -> None:
    refused = client.post("/debates/good/contest", content=body)
    assert refused.status_code == 422
    assert "\n" not in refused.json()["detail"]


def test_a_run_that_cannot_be_read_is_passed_over(client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{")
    listed = client.get("/debates")
    assert [one["run_id"] for one in listed.json()] == ["good"]
    assert client.get("/debates/bad").status_code == 404


def test_no_client_is_told_where_the_server_keeps_its_runs(client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "good" / "calls.jsonl").write_text("{}\n")
    refused = client.get("/debates/good/report.md")
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith("good/calls.jsonl, line 1 cannot be read: ")


# Lists


@pytest.fixture
def many(client: TestClient, tmp_path: Path) -> TestClient:
    """Return a client of a server with seven runs."""
    for number in range(6):
        name = ["rsd", "tsd"][number % 2]
        about = {"run_id": f"r{number}", "started": f"2026-02-0{number + 1}"}
        update: dict[str, object] = {**about, "input": {"question": f"Is it {number}?"}}
        update["usage"] = Usage(calls=number % 4, cost=None if number else 0.5)
        one = record(name).model_copy(update=update)
        RunFolder.create(tmp_path, f"r{number}").write_whole(one, [], [])
    return client


def ids(client: TestClient, address: str) -> list[str]:
    return [one["run_id"] for one in client.get(address).json()]


def test_a_list_comes_in_pages_to_its_end(many: TestClient) -> None:
    address, seen = "/debates?limit=3", list[list[str]]()
    while address:
        page = many.get(address)
        seen.append([one["run_id"] for one in page.json()])
        address = page.links["next"]["url"] if "next" in page.links else ""
        address = address and f"/debates{address}"
    assert seen == [["r5", "r4", "r3"], ["r2", "r1", "r0"], ["good"]]
    assert ids(many, "/debates?after=r1&limit=1") == ["r0"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("protocol=tsd", ["r5", "r3", "r1"]),
        ("protocol=rsd&limit=1&after=r2", ["r0"]),
        ("status=partial", []),
        ("text=IT%204", ["r4"]),
        ("text=r3", ["r3"]),
        ("protocol=nosuch", []),
        ("sort=newest&protocol=tsd", ["r5", "r3", "r1"]),
        ("sort=calls&limit=4", ["good", "r3", "r2", "r5"]),
        ("sort=calls&after=r5", ["r1", "r4", "r0"]),
        ("sort=cost&limit=2", ["r0", "r5"]),
        ("sort=figure&protocol=tsd&limit=1", ["r5"]),
        ("sort=question&text=is%20it&limit=3", ["r0", "r1", "r2"]),
        ("status=waiting", []),
    ],
)
def test_a_list_is_of_what_is_looked_for(many: TestClient, query: str, found: list[str]) -> None:
    assert ids(many, f"/debates?{query}") == found
    assert many.get(f"/debates?{query}").headers["protocols"] == "rsd,tsd"


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "limit=1001", "sort=nosuch"])
def test_a_query_of_another_shape_is_refused(client: TestClient, query: str) -> None:
    assert client.get(f"/debates?{query}").status_code == 422
    assert client.get("/debates?after=nosuch").status_code == 404


# One run


def test_calls_and_the_contested_record_are_served(client: TestClient, tmp_path: Path) -> None:
    new = RunFolder.create(tmp_path, "new")
    new.write_whole(record("rsd"), events("rsd"), calls("rsd"))
    served = client.get("/debates/new/calls").json()
    assert [Call.model_validate(one) for one in served] == new.calls() != []
    sent = (FOLDERS["rsd"] / "prompts.jsonl").read_text().splitlines()
    texts = [one["text"] for one in map(json.loads, sent)]
    shutil.copy(FOLDERS["rsd"] / "prompts.jsonl", new.path)
    assert [*client.get("/debates/new/prompts").json().values()] == texts != []
    assert client.get("/debates/new/contested").status_code == 404
    new.write_record(record("tsd"), "contested.json")
    assert client.get("/debates/new/contested").json() == record("tsd").model_dump(mode="json")


@pytest.mark.parametrize(
    ("format", "kind", "begins"),
    [
        ("md", "text/markdown", b"# Every order"),
        ("html", "text/html", b"<!doctype html>"),
        ("docx", "application/vnd.openxmlformats", b"PK"),
    ],
)
def test_a_memo_comes_as_a_file_to_keep(client: TestClient, format: str, kind: str, begins: bytes) -> None:
    answer = client.get(f"/debates/good/memo?format={format}")
    assert answer.status_code == 200 and answer.content.startswith(begins)
    assert answer.headers["content-type"].startswith(kind)
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert f"memo-good.{format}" in answer.headers["content-disposition"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    if format == "html":
        assert "sandbox" in answer.headers["content-security-policy"]
    assert client.get(f"/debates/nosuch/memo?format={format}").status_code == 404


def test_a_memo_of_another_format_is_refused(client: TestClient) -> None:
    assert client.get("/debates/good/memo?format=pdf").status_code == 422
    assert client.get("/debates/good/memo").content.startswith(b"# Every order")


def test_a_memo_of_another_clients_run_is_not_there(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hers = record("rsd").model_copy(update={"run_id": "hers", "owner": "ann"})
    RunFolder.create(tmp_path, "hers").write_whole(hers, [], [])
    assert client.get("/debates/hers/memo").status_code == 200
    monkeypatch.setattr(debates, "owner_of", lambda identity: "bob")
    assert client.get("/debates/hers/memo").status_code == 404


def grounded(folder: Path, *documents: Document, **more: Any) -> str:
    """Keep a run about ``documents``; return the path of its sources on the server."""
    listed: list[dict[str, Any]] = [
        {"id": f"s{n}", "name": one.name, "title": one.title, "digest": one.digest}
        for n, one in enumerate(documents, 1)
    ]
    listed[0] |= more
    run = RunFolder.create(folder, "new")
    for document in documents:
        write_document(document, run.path / "sources")
    question = {"question": "Which country has hospitals?", "sources": listed}
    run.write_whole(record("rsd").model_copy(update={"run_id": "new", "input": question}), [], [])
    return "/debates/new/sources"


TABLE = Document.from_blocks(
    "table.pdf",
    [
        Block("Valley", "heading", 1),
        Block("Country: Belmark; Hospitals: 12", "row", 1),
        Block("Counted in May.", "note", 2),
    ],
)


def test_a_source_is_served_with_its_blocks_and_what_is_not_in_them(
    client: TestClient, tmp_path: Path
) -> None:
    left_out = [{"reason": "hidden", "words": 3, "pages": [2]}]
    notices = ["table.pdf: 3 words left out: hidden", "other.md: an empty file"]
    path = grounded(tmp_path, TABLE, left_out=left_out, notices=notices)
    served = client.get(f"{path}/{TABLE.digest}").json()
    blocks = [(one["kind"], one["text"], one["page"], one["start"]) for one in served["blocks"]]
    assert blocks == [
        ("heading", "Valley", 1, 0),
        ("row", "Country: Belmark; Hospitals: 12", 1, 8),
        ("note", "Counted in May.", 2, 41),
    ]
    assert {one["heading"] for one in served["blocks"]} == {"Valley"}
    row = served["blocks"][1]
    assert (row["ids"], row["sentences"]) == (["s1:1.2"], [[0, 31]])
    assert (served["name"], served["title"]) == ("table.pdf", "table")
    assert (served["left_out"], served["notices"]) == (left_out, ["3 words left out: hidden"])


def test_a_source_that_an_earlier_version_read_is_served(client: TestClient, tmp_path: Path) -> None:
    shutil.copytree(OLD / "grounded" / "finished", tmp_path / "old")
    for source in client.get("/debates/old").json()["input"]["sources"]:
        served = client.get(f"/debates/old/sources/{source['digest']}").json()
        assert {one["kind"] for one in served["blocks"]} == {"paragraph"}
        assert served["left_out"] == served["notices"] == []
        said = {
            id: block["text"][start:end]
            for block in served["blocks"]
            for id, (start, end) in zip(block["ids"], block["sentences"], strict=True)
        }
        retrieved = client.get("/debates/old").json()["tree"]["segments"].values()
        for segment in (one for one in retrieved if one["id"].startswith(f"{source['id']}:")):
            for number, (start, end) in enumerate(segment["sentences"], 1):
                assert said[f"{segment['id']}.{number}"] == segment["text"][start:end]


def test_a_source_that_a_run_does_not_have_is_refused_in_one_line(client: TestClient, tmp_path: Path) -> None:
    path = grounded(tmp_path, TABLE)
    stranger = Document.from_blocks("other.md", [Block("A secret.")])
    write_document(stranger, documents_folder())
    write_document(stranger, tmp_path / "new" / "sources")
    for digest in (stranger.digest, "0" * 32, "x", "..%2Frun"):
        refused = client.get(f"{path}/{digest}")
        assert refused.status_code == 404, digest
    assert client.get(f"/debates/good/sources/{TABLE.digest}").status_code == 404
    assert client.get(f"/debates/none/sources/{TABLE.digest}").status_code == 404
    file = tmp_path / "new" / "sources" / TABLE.file
    file.write_text(file.read_text().replace("12", "13"))
    changed = client.get(f"{path}/{TABLE.digest}")
    assert changed.status_code == 422
    assert changed.json()["detail"] == (
        f"table.pdf: its text in new/sources/{TABLE.file} cannot be read (it was changed since it "
        "was written); give the source again"
    )
    file.unlink()
    gone = client.get(f"{path}/{TABLE.digest}")
    assert gone.status_code == 422 and "is not in the folder of the run" in gone.json()["detail"]


def test_two_runs_are_compared(client: TestClient, tmp_path: Path) -> None:
    new = record("rsd").model_copy(update={"run_id": "new", "models": {"judge": "openai:other"}})
    RunFolder.create(tmp_path, "new").write_whole(new, [], [])
    found = client.get("/debates/good/compare/new").json()
    assert found["runs"] == ["good", "new"] and found["moved"] == []
    assert "judge openai:other" in found["changes"][-1]
    assert client.get("/debates/good/compare/nosuch").status_code == 404


def told(text: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the numbers and the data of server-sent events."""
    found = re.findall(r"^id: (\d+)\ndata: (.*)\n\n", text, re.MULTILINE)
    return [(int(number), json.loads(data)) for number, data in found]


@pytest.mark.parametrize("header", [True, False])
def test_the_events_of_a_run_are_told_from_any_of_them_on(
    client: TestClient, tmp_path: Path, header: bool
) -> None:
    new, every = RunFolder.create(tmp_path, "new"), events("tsd")
    new.write_whole(record("tsd"), every, [])
    for after in (0, 1, len(every) - 1, len(every), len(every) + 1):
        headers = {"Last-Event-ID": str(after)} if header else {}
        query = "after=0" if header else f"after={after}"
        answer = client.get(f"/debates/new/events?{query}", headers=headers)
        assert answer.headers["content-type"].startswith("text/event-stream")
        expected = [(one.n, one.model_dump(mode="json")) for one in every[after:]]
        assert told(answer.text) == expected
    assert client.get("/debates/new/events?after=-1").status_code == 422
    assert client.get("/debates/nosuch/events").status_code == 404


def test_a_run_is_followed_by_many_while_another_one_writes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "PACE_S", 0.01)
    monkeypatch.setattr(following, "EACH_S", 0)
    monkeypatch.setattr(following, "BEAT_S", 0.02)
    folder, every = RunFolder.create(tmp_path, "new"), events("rsd")
    folder.write_record(record("rsd").model_copy(update={"status": "running", "ended": None}))

    async def write() -> None:
        for one in every:
            line = one.model_dump_json() + "\n"
            for part in (line[:20], line[20:]):
                with (folder.path / "events.jsonl").open("a") as file:
                    file.write(part)
                await asyncio.sleep(0.03)

    async def watch(after: int) -> list[bytes]:
        return [part async for part in following.events(RunFolder(folder.path), after)]

    async def follow() -> list[list[bytes]]:
        writing = asyncio.create_task(write())
        seen = await asyncio.gather(*map(watch, range(len(every))))
        await writing
        return seen

    for after, seen in enumerate(asyncio.run(asyncio.wait_for(follow(), 30))):
        numbers = [number for number, _ in told(b"".join(seen).decode())]
        assert numbers == [*range(after + 1, len(every) + 1)]
        assert seen.count(b":\n\n") > 1
