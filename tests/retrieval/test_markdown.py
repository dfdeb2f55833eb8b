"""Markdown says what it shows: every word of its text, and nothing of its markup."""

from __future__ import annotations

import time

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
    abstract = "  First line.\n  Second line.\n\n  Second paragraph."
    front = f"---\ntitle: T\nabstract: |\n{abstract}\n---\n\n# A\n\nB."
    assert markdown.draft(front).abstract == "First line. Second line. Second paragraph."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"$\lambda \in \{.1, .5\}$ and for $\mu$.", "λ∈{.1, .5} and for μ."),
        ("Values in {.1, .5, .9} and {#1, #2}.", "Values in {.1, .5, .9} and {#1, #2}."),
        ("We write `{.class}` too.", "We write {.class} too."),
        ("It matches `[^a-z]` or ``[`@x]``.", "It matches [^a-z] or [`@x]."),
        ("Of `$HOME` and `a$b`.", "Of $HOME and a$b."),
        ('[Words](x){.smallcaps} of *it*{#a .b key="1, 2"}.', "Words of it."),
        ("A tick ` and $x_i$ [@a] {.b}.\n\nOf `it`.", "A tick ` and x_i.\n\nOf it."),
        ("It is `so\nit` is [see @doe, p. 2; @roe]{.b}.", "It is so it is."),
        ("See [a @ b](http://x.y/@z) and [@z](http://x.y).", "See a @ b and @z."),
    ],
)
def test_only_what_is_markup_is_left_out(text: str, words: str) -> None:
    assert said(text) == words


@pytest.mark.parametrize("piece", ["@a ", "[@a ]( ", "[@a ", "`a``", "^[a ", 'x {#a " '])
def test_brackets_that_never_close_are_read_in_time(piece: str) -> None:
    began = time.monotonic()
    said("[" + piece * (120_000 // len(piece)))
    assert time.monotonic() - began < 10
