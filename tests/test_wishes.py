"""Changes as programs hand them over: a wrong part is named before any run is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialectree.contests import Add, Change, Drop, Flip, Restore, Rule, Set, start
from dialectree.errors import InputError
from dialectree.records.folder import RunFolder


@given(st.none() | st.floats(0, 1))
def test_a_strength_is_set_to_the_last_digit(strength: float | None) -> None:
    assert Set("0.1", strength).strength() == strength


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Set("0.0", 1.5), "0.0=1.5"),
        (lambda: Set("0.0", float("nan")), "0.0=nan"),
        (lambda: Set("", 0.5), "--set"),
        (lambda: Flip("0.0", ""), "--flip"),
        (lambda: Flip("0.0", "0.1:0.2"), "--flip"),
        (lambda: Add("foo", "0", "so"), "--add foo:0"),  # type: ignore[arg-type]
        (lambda: Rule("0", None), "text: .*string"),  # type: ignore[arg-type]
        (lambda: Drop(1), "where: .*string"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_part_is_named(make: Callable[[], Change], named: str) -> None:
    with pytest.raises(InputError, match=named):
        make()


@pytest.mark.parametrize("changes", [None, Restore("0.0"), ["0.0=0.5"], "0.0"])
def test_what_is_no_list_of_changes_is_refused(changes: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no list of changes"):
        start(RunFolder(tmp_path), changes, tmp_path, {})
