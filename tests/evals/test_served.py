"""The evaluations of a folder as the page lists and opens them."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount, Router
from starlette.testclient import TestClient
from starlette.types import Scope

from dialectree.errors import RunNotFound
from dialectree.evals import served
from dialectree.evals.evaluation_list import find_evaluation, find_evaluations
from dialectree.evals.reporting.study import study
from dialectree.evals.results import Result, measure, outcome
from tests.evals import sample


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    """Return a client of a server over two evaluations, one of them with a report."""
    sample.evaluation(tmp_path / "first", "answer", n=12)
    folder = sample.evaluation(tmp_path / "second", "verify", n=12)
    (folder / "report.html").write_text("<p>figures</p>")
    (folder / "report").mkdir()
    (folder / "report" / "risk.svg").write_text("<svg/>")
    (tmp_path / "notes").mkdir()
    every = served.routes(lambda: find_evaluations([tmp_path]), lambda name, file: f"/apart/{name}/{file}")

    def place(scope: Scope) -> Path:
        return find_evaluation(find_evaluations([tmp_path]), scope["path_params"]["name"])

    apart = Mount("/apart/{name}", Router(served.report_routes(place)))
    return TestClient(Starlette(routes=[*every, apart]))


def test_evaluations_are_listed_with_the_figures_of_their_reports(client: TestClient, tmp_path: Path) -> None:
    listed = client.get("/evaluations").json()
    assert sorted((one["name"], one["report"]) for one in listed) == [("first", False), ("second", True)]
    for one in listed:
        rows = study([tmp_path / one["name"]]).rows.values()
        assert [row["accuracy"] for row in one["rows"]] == pytest.approx([row.accuracy.share for row in rows])
        assert [row["method"] for row in one["rows"]] == [row.row.method for row in rows]
        shares = [row["right"] / row["asked"] for row in one["rows"]]
        assert shares == [row["accuracy"] for row in one["rows"]]


def test_a_withheld_answer_is_asked_and_not_right(client: TestClient, tmp_path: Path) -> None:
    file = tmp_path / "first" / "results.jsonl"
    results = [Result.model_validate_json(line) for line in file.read_text().splitlines()]
    (listed,) = (one for one in client.get("/evaluations").json() if one["name"] == "first")
    before = {row["name"]: row for row in listed["rows"]}

    def withhold(result: Result) -> Result:
        scores = [score.model_copy(update={"score": 0.0, "value": "unanswered"}) for score in result.scores]
        return result.model_copy(update={"scores": scores})

    right = next(one for one in results if outcome(one, measure([one])) == "right")
    lines = [(withhold(one) if one is right else one).model_dump_json() for one in results]
    file.write_text("".join(f"{line}\n" for line in lines))
    (listed,) = (one for one in client.get("/evaluations").json() if one["name"] == "first")
    was, row = before[right.row], next(row for row in listed["rows"] if row["name"] == right.row)
    assert (row["right"], row["asked"]) == (was["right"] - 1, was["asked"])
    assert row["judged"] == was["judged"] - 1
    file.write_text("")
    (listed,) = (one for one in client.get("/evaluations").json() if one["name"] == "first")
    assert {(row["right"], row["asked"]) for row in listed["rows"]} == {(None, None)}


def test_an_audit_and_a_route_are_listed_and_opened_like_a_report(client: TestClient, tmp_path: Path) -> None:
    first, second = (tmp_path / name for name in ("first", "second"))
    for file in ("audit.html", "route.html"):
        (first / file).write_text(f"<p>{file}</p>")
    listed = {one["name"]: one["pages"] for one in client.get("/evaluations").json()}
    assert listed["second"] == [{"name": "report", "href": "evaluations/second/report.html"}]
    assert [page["name"] for page in listed["first"]] == ["audit", "route"]
    for page in listed["first"]:
        opened = client.get(f"/{page['href']}")
        assert opened.text == f"<p>{page['name']}.html</p>"
        assert "sandbox allow-scripts" in opened.headers["content-security-policy"]
    assert not (second / "audit.html").exists()
    with pytest.raises(RunNotFound, match="no audit yet: dialectree eval audit writes it"):
        client.get("/evaluations/second/audit.html")


def test_a_report_is_opened_under_a_policy_that_keeps_it_from_the_runs(client: TestClient) -> None:
    led = client.get("/evaluations/second/report.html", follow_redirects=False)
    assert led.headers["location"] == "/apart/second/report.html"
    assert led.headers["referrer-policy"] == "no-referrer"
    opened = client.get("/evaluations/second/report.html")
    assert opened.text == "<p>figures</p>"
    policy = opened.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "sandbox allow-scripts" in policy
    assert "allow-same-origin" not in policy and "frame-ancestors 'none'" in policy
    plot = client.get("/apart/second/report/risk.svg")
    assert (plot.text, plot.headers["content-security-policy"]) == ("<svg/>", policy)
    wrong = ["evaluations/nosuch/report.html", "apart/nosuch/report.html"]
    for path in (*wrong, "apart/first/report.html", "apart/second/report/%2e%2e"):
        with pytest.raises(RunNotFound):
            client.get(f"/{path}")


def test_a_cell_of_a_report_leads_to_its_run_on_the_page(client: TestClient) -> None:
    answer = client.get("/apart/second/runs/r1/report.html", follow_redirects=False)
    assert answer.headers["location"] == "../../page/?run=r1"


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("evaluation.json", b"{"),
        ("evaluation.json", b"\xff\xfe"),
        ("evaluation.json", b"[]"),
        ("results.jsonl", b'{"row": "tsd"}\n'),
        ("results.jsonl", b"\0\n"),
        ("results.jsonl", b""),
    ],
)
def test_one_evaluation_that_is_damaged_does_not_close_the_list(
    client: TestClient, tmp_path: Path, file: str, content: bytes
) -> None:
    (tmp_path / "first" / file).write_bytes(content)
    listed = {one["name"]: one for one in client.get("/evaluations").json()}
    assert listed.keys() == {"first", "second"}
    assert listed["second"]["report"] and not listed["second"].get("damaged")
    assert listed["first"].get("damaged") or content == b""


def test_a_folder_that_is_an_evaluation_is_found_by_its_name(tmp_path: Path) -> None:
    folder = sample.evaluation(tmp_path / "only", n=2)
    assert find_evaluations([folder, tmp_path]) == {"only": folder}
