"""The page and a folder of runs, served to the person of this machine alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from dialectree.interfaces.server import local, pages
from dialectree.records.folder import RunFolder
from tests.report.recorded import calls, events, record

TOKEN = "a-token-of-this-server"
HERE = "http://127.0.0.1:8123"


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """Return a client of a server over a folder with one run, ``good``."""
    monkeypatch.setattr(pages, "FILE", tmp_path / "page.html")
    pages.FILE.write_text("<script>1</script>")
    runs = tmp_path / "runs"
    good = RunFolder.create(runs, "good")
    good.write_whole(record("rsd"), events("rsd"), calls("rsd"))
    app = local.app(local.folder(lambda scope: runs), TOKEN)
    return TestClient(app, base_url=HERE)


def test_a_folder_of_runs_is_read_under_the_token(client: TestClient) -> None:
    assert [one["run_id"] for one in client.get(f"/{TOKEN}/debates").json()] == ["good"]
    assert client.get(f"/{TOKEN}/debates/last").json()["protocol"] == record("rsd").protocol
    assert client.get(f"/{TOKEN}/debates/good/events?after=0").text.count("\ndata: ") == len(events("rsd"))
    assert len(client.get(f"/{TOKEN}/debates/good/calls").json()) == len(calls("rsd"))
    assert client.get(f"/{TOKEN}/evaluations").json() == []
    assert "protocols" in client.get(f"/{TOKEN}/protocols").json()
    page = client.get(f"/{TOKEN}/")
    assert page.url.path == f"/{TOKEN}/page/" and page.text == "<script>1</script>"


def test_nothing_can_be_changed(client: TestClient) -> None:
    drop = {"changes": [{"change": "drop", "where": "0"}]}
    assert client.post(f"/{TOKEN}/debates/good/contest", json=drop).status_code == 404
    assert client.delete(f"/{TOKEN}/debates/good").status_code == 405


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/debates", {}, 401),
        ("/page/", {}, 401),
        ("/", {}, 401),
        (f"/{TOKEN}x/debates", {}, 401),
        (f"/{TOKEN[:-1]}/debates", {}, 401),
        (f"//{TOKEN}/debates", {}, 401),
        ("/é/debates", {}, 401),
        (f"/{TOKEN}/debates", {"host": "evil.example:8123"}, 403),
        (f"/{TOKEN}/debates", {"host": "127.0.0.1"}, 403),
        (f"/{TOKEN}/debates", {"host": "127.0.0.1:80"}, 403),
        (f"/{TOKEN}/debates", {"host": ""}, 403),
        (f"/{TOKEN}/debates", {"origin": "http://evil.example"}, 403),
        (f"/{TOKEN}/debates", {"origin": "null"}, 403),
        (f"/{TOKEN}/debates", {"origin": "https://127.0.0.1:8123"}, 403),
        (f"/{TOKEN}/debates", {"origin": HERE}, 200),
        (f"/{TOKEN}/debates", {"host": "localhost:8123"}, 200),
        (f"/{TOKEN}/debates/nosuch", {}, 404),
        (f"/{TOKEN}/debates/..%2Fgood", {}, 404),
    ],
)
def test_a_request_without_the_token_or_from_elsewhere_is_refused(
    client: TestClient, path: str, headers: Mapping[str, str], status: int
) -> None:
    answer = client.get(f"{HERE}{path}", headers=headers)
    assert answer.status_code == status
    assert not {name for name in answer.headers if name.startswith("access-control")}


def test_no_other_site_is_allowed_to_ask_first(client: TestClient) -> None:
    headers = {"origin": "http://evil.example", "access-control-request-method": "GET"}
    answer = client.options(f"/{TOKEN}/debates", headers=headers)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers
