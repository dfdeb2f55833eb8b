"""What programs hand over as wishes: each part has its type, whatever the run."""

from __future__ import annotations

from typing import Any

import pytest

from dialectree.contests import Add, Restore, Rule, Set
from dialectree.contests.wishes import listed
from dialectree.errors import InputError


def made(kind: Any, *parts: Any) -> Any:
    """A wish as a program without type checks makes it."""
    return kind(*parts)


@pytest.mark.parametrize("wish", [Set("0.0", None), Set("0.0", 1), Restore("0.0"), Rule("0", "A")])
def test_a_wish_of_the_right_types_passes(wish: Any) -> None:
    assert listed(iter([wish])) == [wish]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (made(Set, "0.0", "0.5"), "tau: .*number"),
        (made(Set, "0.0", True), "tau: .*number"),
        (made(Set, 0, 0.5), "node: .*string"),
        (made(Add, "foo", "0", "so"), "stance: .*'support' or 'attack'"),
        (made(Rule, "0", None), "text: .*string"),
        ("0.0=0.5", "'0.0=0.5' is no wish: give a list of Set, Drop"),
    ],
)
def test_a_wrong_part_is_named(wish: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        listed([wish])


@pytest.mark.parametrize("wishes", [None, Restore("0.0")])
def test_a_wish_without_a_list_is_none(wishes: Any) -> None:
    with pytest.raises(InputError, match="is no list of wishes: give a list of Set, Drop"):
        listed(wishes)
