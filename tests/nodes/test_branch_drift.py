"""What counts as an entity that a child brings along."""

import pytest

from dialectree.nodes.branch_drift import newcomers

PARENT = "What is the best medicine in Europe's hospitals since 1990?"


@pytest.mark.parametrize(
    ("child", "found"),
    [
        ("What is the best medicine for Malaria?", ["Malaria"]),
        ("Which drug does the WHO recommend in 2020?", ["WHO", "2020"]),
        ("What is a medicine?", []),
        ("Which hospitals are there in Europe?", []),
        ("Since 1990, what changed in europe?", []),
        ("What do Europe's hospitals use?", []),
        ("Aspirin was found when?", []),
        ("Is it good? Aspirin is.", []),
        ("May I ask?", []),
        ("Does Aspirin help? Does Aspirin heal?", ["Aspirin"]),
        ("", []),
    ],
)
def test_a_name_or_figure_that_the_parent_lacks_is_a_newcomer(child: str, found: list[str]) -> None:
    assert newcomers(child, [PARENT]) == found


def test_what_any_question_above_it_names_is_no_newcomer() -> None:
    assert newcomers("What of Rome?", ["What of Italy?", "And of Rome?"]) == []
