"""The file of a route is read as it was written, or refused in one line."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialectree.errors import InputError
from dialectree.protocols.calibrations import read_calibrations
from dialectree.protocols.routes import Interval, Route, RouteFigures, read_route

HALF = Interval(value=0.5, low=0.4, high=0.6)
ROUTE = Route(
    protocol="rsd",
    method="rsd",
    task="decide",
    voters=["openai:one", "openai:two", "openai:one"],
    models={"debater_a": "openai:one", "judge": "openai:two"},
    agree_at=0.67,
    n=120,
    figures=RouteFigures(accuracy=HALF, difference=HALF, vote=HALF, debate=HALF, tokens=0.38, debates=0.2),
    sentence="debate below 0.67",
)


def saved(path: Path, route: Route = ROUTE) -> Path:
    path.write_text(route.model_dump_json(by_alias=True))
    return path


def test_a_route_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_route(saved(tmp_path / "route.json")) == ROUTE


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"schema": "dialectree.route/2"}', "it is not a file of dialectree.route/1"),
        ('{"schema": "dialectree.route/1"}', "protocol: field required"),
        ("a text", "it cannot be read"),
        (None, "No such file"),
    ],
)
def test_another_file_is_refused_in_one_line(tmp_path: Path, text: str | None, why: str) -> None:
    path = tmp_path / "route.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=f"--route .*{why}") as refused:
        read_route(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("changed", "both"),
    [
        ({}, ()),
        ({"voters": ["openai:one@http://h/v1", "openai:one", "openai:two@https://h"]}, ()),
        ({"voters": ["openai:one", "openai:two"]}, ("openai:one, openai:one", "openai:two")),
        ({"models": {"debater_a": "openai:one", "judge": "openai:one"}}, ("openai:two", "judge")),
        ({"models": {"judge": "openai:two"}}, ("debater_a", "none")),
    ],
)
def test_a_route_holds_for_its_models_alone(changed: dict[str, Any], both: tuple[str, ...]) -> None:
    run = {"voters": ROUTE.voters, "models": ROUTE.models, **changed}
    if not both:
        ROUTE.require(**run)
        return
    with pytest.raises(InputError) as refused:
        ROUTE.require(**run)
    assert all(name in str(refused.value) for name in both)


@pytest.mark.parametrize("read", [read_route, read_calibrations])
def test_only_a_small_regular_file_is_read(read: Callable[[Path], object], tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    (large := tmp_path / "large").write_bytes(b" " * 1_000_001)
    faults = {
        pipe: "it is not a regular file",
        Path("/dev/zero"): "it is not a regular file",
        tmp_path: "Is a directory",
        tmp_path / "none": "No such file or directory",
        large: "it has more than 1,000,000 bytes",
    }
    for path, why in faults.items():
        with pytest.raises(InputError, match=f"{path}: the file cannot be read: {why}$"):
            read(path)
