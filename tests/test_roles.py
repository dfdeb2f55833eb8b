"""The roles that can be given a model."""

from __future__ import annotations

from dialectree.graphs import METHODS
from dialectree.roles import FAMILIES, ROLES


def test_the_known_roles_are_those_of_the_methods_and_their_families() -> None:
    every = [role for method in METHODS.values() for role in method.roles]
    assert sorted(ROLES) == sorted({*every, *FAMILIES.values()})
    assert FAMILIES.keys() <= set(every)
