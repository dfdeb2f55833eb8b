"""``dialectree eval route`` as a person or a script meets it."""

from __future__ import annotations

import json
from pathlib import Path

from dialectree.protocols.routes import read_route
from tests.cli.commands import command, refused
from tests.evals.routed import sample, written


def test_a_route_is_said_shown_and_saved(tmp_path: Path) -> None:
    folder = written(tmp_path / "e", sample("helps everywhere", 1, 300))
    done = command("eval", "route", str(folder), "--save", "route.json")
    assert (done.status, done.out) == (0, f"{folder / 'route.html'}\n")
    assert "never debate" in done.err and "debate everything ←" in done.err
    said = "debate everything: 11.7 points more right answers than the vote (+4.5 to +19.0 points)"
    assert f"RSD: {said}" in done.err and "saved route.json" in done.err
    assert read_route("route.json").sentence.startswith(said)
    assert {"route.html", "route.md"} <= {one.name for one in folder.iterdir()}


def test_a_script_reads_the_route_as_json(tmp_path: Path) -> None:
    folder = written(tmp_path / "e", sample("harms", 1, 200), method="vote_first")
    done = command("eval", "route", str(folder), "--row", "vote_first", "--json")
    assert (done.status, done.err) == (0, "")
    told = json.loads(done.out)
    assert (told["call"], told["agree_at"], told["n"]) == ("never", 0, 200)
    assert [one["below"] for one in told["rules"]] == [0, 0.66, 1, 1.01]
    assert told["figures"]["tokens"] < 0.5 and told["sentence"].startswith("do not debate")


def test_what_cannot_be_told_is_not_saved(tmp_path: Path) -> None:
    folder = written(tmp_path / "e", sample("changes nothing", 1, 60))
    done = command("eval", "route", str(folder), "--save", "route.json")
    assert (done.status, Path("route.json").exists()) == (2, False)
    assert "no file is written: cannot be told from 60 questions; about " in done.err
    refused(command("eval", "route", str(folder), "--row", "x"), "there is no such row")
    refused(command("eval", "route", str(tmp_path)), "holds no evaluation")
