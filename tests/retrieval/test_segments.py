"""Segments: whole sentences, none too short, nothing lost; sentences end where " | " stands."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialectree.retrieval.papers import Paper, Passage
from dialectree.retrieval.segments import LONGEST, SHORTEST, cut, segments, sentences
from tests.retrieval.watched import paper

HARD = """
The method of Smith et al. is slower. | Ours is not.
As Smith et al. (2019) show, the bound is tight. | Jones et al. [4] disagree.
This was shown by Lee et al. in 2020. | We follow them.
See Fig. 2. | The curve is flat.
As Fig. 2 shows, the curve is flat. | Figs. 3 and 4 repeat it.
Some methods are exact, i.e. they return the optimum. | Others are not.
Some kernels (e.g. Matern) are rough. | Others, e.g., RBF, are smooth.
We minimise Eq. (3) by gradient descent. | Eqs. (4) and (5) follow.
We compare greedy vs. beam search. | Beam search wins.
The idea is due to J. R. Smith and A. Jones. | It is old.
The idea goes back to D. E. Knuth. | He published it in 1968.
Dr. Miller and Prof. Lee annotated the data. | They agreed on 95% of it.
The p-value was 0.05. | We reject the hypothesis.
Code is at https://example.org/a.b/c.html. | Data are on request.
Visit www.example.org for details. | The licence is MIT.
Let x be the input and y the output. | Then f(x) = y.
We set $\\alpha = 0.1$. | Then $\\beta$ follows.
The loss is $L = \\sum_i l_i$. | It is convex.
Here K is the kernel and N the size of K. | For each K we repeat the test.
We write k for the lag and n for the size. | If k is large, n matters less.
The covariance depends on n and m. | If they are equal, it is one.
What is gained? | Not much! | Yet it is cheap.
"It works," they say. | "It does not," we reply.
They call it "robust." | We do not.
Training took 3 h. on one GPU. | Inference is fast.
The U.S. Census gives the counts. | They are public.
We use Adam, SGD, etc. | All of them work.
Table 3 lists the results, cf. Tab. 4. | They agree.
The paper appeared in Proc. ACL, vol. 3, pp. 4-9. | It won a prize.
No. 5 is the best. | No. 6 is the worst.
It scales to ca. 10 million rows, resp. 2 GB. | More was not tried.
We thank the authors of v1.2. | Version 2.0 is due soon.
Three steps follow: (i) encode, (ii) search, (iii) rank. | Each is cheap.
There are two tasks: 1) constraining the model and 2) comparing it. | Both are hard.
Let us recall Thm. 4 and Lem. 2. | They suffice.
w.r.t. the baseline, the gain is small. | It is significant.
By Cor. 3 the map is open. | Its proof is in the Suppl. Mat. of the paper.
The bound is tight. | Then Fig. S1. shows it once more.
It took 4.1 s. | See the next table.
This is the state of the art. | Gaussian noise does not change it.
See Alg. 1 and Algs. 2-4. | Tbl. 2 and Tbls. 3-4 compare them.
By Thms. 1 and 2 and Props. 3 and 4 it holds. | The proof is short.
The noise is i.i.d. Gaussian. | The errors are i.i.d. | We fit them.
It holds w.l.o.g. for all x and w.h.p. in n. | The bound is tight w.h.p. | It is old.
It is fast, esp. for small n. | We report the max. and std. of five runs.
We report the max. | The mean is lower.
""".strip().splitlines()


LONG = "This sentence has as many characters as a sentence of a paper has, or even more of them."


def parted(text: str) -> str:
    return " | ".join(text[start:end] for start, end in sentences(text))


def test_sentences_end_where_a_reader_ends_them() -> None:
    assert [parted(line.replace(" | ", " ")) for line in HARD] == HARD


@pytest.mark.parametrize(
    "line",
    [
        "这是一句话。 | 这是第二句！ | 他说：“这是第三句？” | 是的。",
        "これは文です。 | 「そうですか。」と彼は言った。 | 次の文（短い。）も文です。",
    ],
)
def test_chinese_and_japanese_end_their_sentences_without_a_blank(line: str) -> None:
    assert parted(line.replace(" | ", "")) == line


def test_three_sentences_make_a_segment() -> None:
    found = segments(paper(" ".join([LONG] * 7)))
    assert [segment.text.count(LONG) for segment in found] == [3, 4]  # the seventh is short
    assert [segment.number for segment in found] == [1, 2]


@pytest.mark.parametrize(
    "sentence", ["We fit it. ", "It runs fast on all the data. ", "该方法在公开数据集上取得了最好的结果。"]
)
def test_short_sentences_are_joined_until_they_are_long_enough_and_no_longer(sentence: str) -> None:
    found = [segment.text for segment in segments(paper(sentence * 100))]
    most = SHORTEST + 3 * len(sentence)
    assert len(found) > 3
    assert all(SHORTEST < len(text) <= most for text in found[:-1])
    assert SHORTEST < len(found[-1]) <= most + SHORTEST


TWO, THREE = f"{LONG} {LONG}", f"{LONG} {LONG} {LONG}"


@pytest.mark.parametrize(
    ("texts", "headings", "made"),
    [
        ([TWO, THREE], [], [TWO, THREE]),
        ([LONG, TWO], ["One", "One"], [f"{LONG}\n\n{TWO}"]),
        ([TWO, "Short.", THREE], ["One", "One", "Two"], [f"{TWO}\n\nShort.", THREE]),
    ],
    ids=["long enough", "joins the next one", "joins the one before"],
)
def test_a_segment_crosses_paragraphs_only_where_one_is_short(
    texts: list[str], headings: list[str], made: list[str]
) -> None:
    assert [segment.text for segment in segments(paper(*texts, headings=headings))] == made


def test_a_table_without_a_full_stop_is_cut_at_blanks() -> None:
    table = " ".join(f"{number} 0.{number}" for number in range(600))
    pieces = [table[start:end] for start, end in sentences(table)]
    assert len(table) > 5000 and " ".join(pieces) == table
    assert all(len(piece) <= LONGEST for piece in pieces)
    assert max(len(segment.text) for segment in segments(paper(table))) <= 3 * LONGEST + SHORTEST


@pytest.mark.parametrize("sign", [";", ","])
def test_a_sentence_that_is_too_long_is_cut_behind_a_clause(sign: str) -> None:
    clause = "the storage of what the gradients say of the data is large for each of the models"
    text = f"We see that {clause}{', and' * (sign == ';')} " + f"{sign} ".join([clause] * 6) + "."
    pieces = [text[start:end] for start, end in sentences(text)]
    assert len(pieces) > 1 and " ".join(pieces) == text
    assert all(piece.endswith(sign) for piece in pieces[:-1])


def test_a_segment_says_on_which_page_it_begins() -> None:
    text = " ".join([LONG] * 6)
    turned = text.index(LONG, 2 * len(LONG))
    passage = Passage(text=text, page=4, offset=0, breaks=((turned, 5),))
    made = Paper(name="a", title="t", abstract="", introduction="", passages=(passage,))
    assert [segment.page for segment in segments(made)] == [4, 5]


def test_abstract_and_introduction_stand_in_for_a_body() -> None:
    made = Paper(name="a", title="t", abstract=LONG * 2, introduction=LONG * 3, passages=())
    first, second = segments(made)
    assert (first.number, first.offset) == (1, 0)
    assert second.text == LONG * 3 and second.offset == len(first.text) + 2
    assert [segment.text for segment in segments(paper("  ", "\n"))] == ["What it says."]


words = st.text(st.characters(codec="utf-8"), max_size=12)
texts = st.lists(
    st.lists(words | st.sampled_from(["A b.", "et al.", "Fig. 2.", LONG, "x" * 700]), max_size=12),
    min_size=1,
    max_size=8,
).map(lambda paragraphs: [" ".join(words) for words in paragraphs])


@settings(max_examples=30, deadline=None)
@given(texts, st.lists(st.sampled_from(["One", "Two", None]), max_size=8))
def test_nothing_is_lost_and_everything_stays_in_order(
    paragraphs: list[str], headings: list[str | None]
) -> None:
    made = paper(*paragraphs, headings=headings).model_copy(update={"abstract": ""})
    found = segments(made)
    assert "".join("".join(s.text for s in found).split()) == "".join(made.body.split())
    assert [s.number for s in found] == list(range(1, len(found) + 1))
    assert [s.offset for s in found] == sorted({s.offset for s in found})
    assert all(made.body[s.offset :].startswith(s.text) for s in found)
    assert len(found) <= 1 or all(len(s.text) > SHORTEST for s in found)


def test_a_segment_of_a_file_without_pages_says_at_which_paragraph_or_row_it_begins() -> None:
    long = "So long that it stands alone, and longer than a short segment may be. " * 3
    kinds = ("heading", "paragraph", "paragraph", "names", "row", "row", "heading", "item", "row")
    body = [Passage(text=f"{long}{n}.", offset=0, kind=kind) for n, kind in enumerate(kinds)]
    places = ["paragraph 1", "paragraph 1", "paragraph 2", "row 1", "row 1", "row 2"]
    assert [piece.place for piece, _ in cut(body)] == [*places, "paragraph 3", "paragraph 3", "row 1"]
    on_pages = [passage.model_copy(update={"page": 4}) for passage in body]
    assert {(piece.page, piece.place) for piece, _ in cut(on_pages)} == {(4, "")}
