"""A record of a contest: its words are data, and older ones load."""

from __future__ import annotations

from dialectree.report import html, markdown, tree
from tests.report import sample
from tests.report.test_live import seen


def test_a_persons_words_are_data_like_a_models() -> None:
    record = sample.contested("<script>x</script> [a](http://b) \x1b[2J # title")
    assert "<script>" not in html(record, []) and "\x1b" not in html(record, [])
    assert "<script>" not in markdown(record, []) and "](http" not in markdown(record, [])
    assert "\x1b" not in seen(tree(record))
    assert record.contest is not None and "1/" not in record.contest.why
