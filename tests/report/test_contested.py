"""A record of a contest: its words are data, and older ones load."""

from __future__ import annotations

from dialectree.records import Contest
from dialectree.report import html, markdown, tree
from tests.report import sample
from tests.report.test_terminal import seen


def test_a_persons_words_are_data_like_a_models() -> None:
    record = sample.contested("<script>x</script> [a](http://b) \x1b[2J # title")
    assert "<script>" not in html(record, []) and "\x1b" not in html(record, [])
    assert "<script>" not in markdown(record, []) and "](http" not in markdown(record, [])
    assert "\x1b" not in seen(tree(record))
    assert record.contest is not None and "1/" not in record.contest.why


def test_records_of_older_contests_load_and_arguments_have_no_new_fields() -> None:
    old: dict[str, object] = {
        "run": "r",
        "changes": ["0.1 dropped"],
        "before": 0.4,
        "after": 0.5,
        "path": [{"node": "0", "before": 0.4, "after": 0.5}],
        "why": "because",
    }
    assert Contest.model_validate(old).model_dump() == old
    made = sample.contested().contest
    assert made is not None and Contest.model_validate(made.model_dump()) == made
