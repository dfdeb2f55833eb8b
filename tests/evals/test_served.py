"""The evaluations of a folder as the page lists and opens them."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from dialectree.errors import RunNotFound
from dialectree.evals import served
from dialectree.evals.reporting.study import study
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
    return TestClient(Starlette(routes=served.routes(lambda: served.found([tmp_path]))))


def test_evaluations_are_listed_with_the_figures_of_their_reports(
    client: TestClient, tmp_path: Path
) -> None:
    listed = client.get("/evaluations").json()
    assert sorted((one["name"], one["report"]) for one in listed) == [
        ("first", False),
        ("second", True),
    ]
    for one in listed:
        rows = study([tmp_path / one["name"]]).rows.values()
        assert [row["accuracy"] for row in one["rows"]] == pytest.approx(
            [row.accuracy.share for row in rows]
        )
        assert [row["method"] for row in one["rows"]] == [row.row.method for row in rows]


def test_a_report_is_opened_under_a_policy_that_keeps_it_from_the_runs(client: TestClient) -> None:
    opened = client.get("/evaluations/second/report.html")
    assert opened.text == "<p>figures</p>"
    policy = opened.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "sandbox allow-scripts" in policy
    assert "allow-same-origin" not in policy and "frame-ancestors 'none'" in policy
    plot = client.get("/evaluations/second/report/risk.svg")
    assert (plot.text, plot.headers["content-security-policy"]) == ("<svg/>", policy)
    for path in ("first/report.html", "nosuch/report.html", "second/report/%2e%2e"):
        with pytest.raises(RunNotFound):
            client.get(f"/evaluations/{path}")


def test_a_cell_of_a_report_leads_to_its_run_on_the_page(client: TestClient) -> None:
    answer = client.get("/evaluations/second/runs/r1/report.html", follow_redirects=False)
    assert answer.headers["location"] == "../../page/?run=r1"


def test_a_folder_that_is_an_evaluation_is_found_by_its_name(tmp_path: Path) -> None:
    folder = sample.evaluation(tmp_path / "only", n=2)
    assert served.found([folder, tmp_path]) == {"only": folder}
