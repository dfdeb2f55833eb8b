"""A run with a calibration: both figures at every door, and nothing of it where nobody asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import dialectree
from dialectree.contests import Add, Drop
from dialectree.errors import InputError
from dialectree.protocols.calibrated_figure import BeforeAndAfter, CalibratedInterval, Calibration
from dialectree.protocols.calibrations import CalibrationFile
from dialectree.records import RunRecord
from dialectree.report.pages import macros
from dialectree.report.verdicts import confidence, headline, verdict_text
from tests.cli.commands import command, refused
from tests.endpoint import LocalEndpoint
from tests.service.doors import DOORS, RUNS
from tests.service.test_doors import CLAIM, RULES

FILE = Path("calibration.json")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(rules=RULES, seed=3) as started:
        yield started


@pytest.fixture
def model(endpoint: LocalEndpoint, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DIALECTREE_RUNS", str(RUNS.absolute()))
    endpoint.reset()
    return f"openai:any@{endpoint.url}"


def calibration(source: str = "P(claim)", spec: str = "openai:any", **fields: Any) -> Calibration:
    zero = CalibratedInterval(value=0.2)
    change = BeforeAndAfter(before=zero, after=zero, difference=zero)
    roles = ("supporter", "attacker", "scorer", "pairwise_judge")
    figures: Any = dict.fromkeys(("brier", "ece", "aurc"), change)
    about = {"row": "art", "protocol": "art", "method": "art", "models": dict.fromkeys(roles, spec)}
    numbers = {"a": 0.5, "b": -1.0, "n": 212, "groups": 212}
    return Calibration(**{**about, **numbers, **figures, "source": source, **fields})


def write(*calibrations: Calibration) -> Path:
    FILE.write_text(CalibrationFile(calibrations=[*calibrations]).model_dump_json(by_alias=True))
    return FILE.absolute()


def shown(record: RunRecord) -> str:
    """Return both figures of a run as a reader sees them."""
    verdict = record.verdict
    assert verdict is not None and verdict.calibrated is not None
    assert verdict.confidence is not None
    assert verdict.calibrated.confidence == calibration().figure(verdict.confidence)
    text = headline(verdict)
    assert " as said; " in text and "calibrated (n = 212)" in text
    return text


@pytest.mark.parametrize("door", DOORS)
def test_every_door_shows_both_figures(door: str, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALECTREE_CALIBRATION", str(write(calibration())))
    record = dialectree.load(DOORS[door](CLAIM, {"model": model}).run)
    text = shown(record)
    assert text in verdict_text(record, "answer")
    assert text in unescape(str(macros(record)("answer"))).replace("\\", "")
    assert record.path is not None
    assert str(FILE) not in (record.path / "run.json").read_text()


def test_the_command_takes_a_file_and_so_does_the_file_of_settings(model: str) -> None:
    write(calibration())
    done = command("verify", CLAIM["claim"], "--model", model, "--calibration", str(FILE))
    assert done.status == 0 and "calibrated (n = 212)" in done.out
    Path("dialectree.toml").write_text(f'[art]\ncalibration = "{FILE}"\n')
    shown(dialectree.run("art", **CLAIM, model=model))


def test_no_run_has_it_by_itself(model: str) -> None:
    record = dialectree.run("art", **CLAIM, model=model)
    assert record.verdict.calibrated is None and record.path is not None
    written = json.loads((record.path / "run.json").read_text())
    assert "calibrated" not in written["verdict"]
    assert "calibration" not in {*written, *written["settings"]}


@pytest.mark.parametrize(
    ("own", "named"),
    [
        (calibration(protocol="rsd", method="rsd"), "it is for rsd, but this run uses art"),
        (calibration(method="argllm"), "it is for argllm, but this run uses art"),
        (calibration(spec="openai:x"), "attacker openai:x, and this is openai:any"),
    ],
)
def test_a_file_for_something_else_is_refused_before_the_first_call(
    own: Calibration, named: str, model: str, endpoint: LocalEndpoint
) -> None:
    write(own)
    done = command("verify", CLAIM["claim"], "--model", model, "--calibration", str(FILE))
    refused(done, named)
    assert "--calibration calibration.json" in done.err
    assert endpoint.stats()["calls"] == 0 and not RUNS.exists()


def test_a_confidence_of_another_source_gets_a_note_and_no_second_figure(model: str) -> None:
    write(calibration("judge"))
    verdict = dialectree.run("art", **CLAIM, model=model, calibration=FILE).verdict
    note = "not calibrated: the calibration is of judge, but this confidence is of P(claim)"
    assert verdict.calibrated is None and note in verdict.notes


def test_a_run_goes_on_and_is_contested_without_the_file(model: str) -> None:
    write(calibration())
    with pytest.raises(dialectree.DialectreeError):
        dialectree.run("art", **CLAIM, model=model, calibration=FILE, max_calls=2, cache=False)
    FILE.unlink()
    ended = dialectree.resume("last", model=model)
    shown(ended)
    contested = dialectree.contest(ended, [Drop("0.1")])
    shown(contested)
    assert contested.calibration == [calibration()]
    with pytest.raises(InputError, match="calibration"):
        dialectree.resume("last", model=model, calibration=FILE)


def test_another_model_in_a_contest_leaves_the_figure_out(model: str, endpoint: LocalEndpoint) -> None:
    write(calibration())
    old = dialectree.run("art", **CLAIM, model=model, calibration=FILE)
    assert old.path is not None
    other = f"openai:other@{endpoint.url}"
    changed = dialectree.contest(old, [Add("attack", "0", "No cow does.")], model=other)
    assert changed.verdict.calibrated is None
    assert any(note.startswith("not calibrated: ") for note in changed.verdict.notes)


def test_no_path_of_a_record_is_read(model: str) -> None:
    old = dialectree.run("art", **CLAIM, model=model)
    assert old.path is not None
    record = json.loads((old.path / "run.json").read_text())
    record["settings"]["calibration"] = str(write(calibration()))
    (old.path / "run.json").write_text(json.dumps(record))
    changed = dialectree.contest(old.path, [Drop("0.1")])
    assert changed.verdict.calibrated is None


def test_the_figures_stand_in_words() -> None:
    made = {"confidence": 0.71, "n": 212, "brier_before": 0.2, "brier_after": 0.1}
    fields: Any = {"answer": "So.", "confidence": 0.9, "calibrated": made}
    said = confidence(dialectree.Verdict(**fields, confidence_source="judge"))
    assert said == "Confidence 0.90 as the judge said; 0.71 calibrated (n = 212)"
    made["confidence"] = 0.4
    words = "more likely true than false as said, more likely false than true calibrated"
    claimed = headline(dialectree.Verdict(**fields, confidence_source="P(claim)"))
    assert claimed == f"P(claim) 0.90 as said; 0.40 calibrated (n = 212): {words}"
