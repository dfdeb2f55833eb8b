"""Markdown says what it shows: every word of its text, and nothing of its markup."""

from __future__ import annotations

import pytest

from dialectree.retrieval import markdown


def said(body: str) -> str:
    """The paragraphs of a paper with that body."""
    blocks = markdown.draft(f"# Title\n\n## Abstract\n\nIt is so.\n\n## Body\n\n{body}").blocks
    return "\n\n".join(block.text for block in blocks[1:])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("as the picture\n![l](l.png)\nshows", "as the picture shows"),
        ("before.<br>\n<br>\nGrid", "before. Grid"),
        ("before.<br/>Grid", "before. Grid"),
        ("one<BR />\ntwo", "one two"),
        (
            "of multi-\n![l](l.png)\nagent systems by multi-agent",
            "of multi-agent systems by multi-agent",
        ),
    ],
)
def test_a_line_without_words_parts_the_words_around_it(text: str, words: str) -> None:
    assert said(text) == words
    assert (
        markdown.draft(f"# Title\n\n## Abstract\n\n{text}\n\n## Body\n\nIt is.").abstract == words
    )


def test_paragraphs_of_an_abstract_in_front_matter_stay_apart() -> None:
    front = "---\ntitle: T\nabstract: |\n  First line.\n  Second line.\n\n  Second paragraph.\n---\n\n# A\n\nB."
    assert markdown.draft(front).abstract == "First line. Second line. Second paragraph."
