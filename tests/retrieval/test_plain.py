"""Plain text: what around a line says whether it is a heading, and what of it is the title."""

from __future__ import annotations

from dialectree.retrieval import headings


def test_a_small_word_with_a_full_stop_is_no_heading_anywhere() -> None:
    assert not headings.looks_like_one("literature.")
    assert all(map(headings.looks_like_one, ("references", "References.", "REFERENCES")))
