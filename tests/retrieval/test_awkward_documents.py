"""Awkward files, each after a public report about a reader of documents, say what they say.

``awkward`` holds the files. A case names one of them, what its blocks must show and must not show,
or what a notice must say instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from dialectree.retrieval.blocks import Block
from dialectree.retrieval.corpus import Corpus
from dialectree.retrieval.segments import cut, sentences
from dialectree.retrieval.sources import Document, Sources, read_sources

FOLDER = Path(__file__).parent / "awkward"
POWERS = (r"10\^5\b", r"42\^7\b")

pytestmark = pytest.mark.anyio


class Case(NamedTuple):
    """What is shown of a file (regular expressions), what is not, and what a notice says."""

    file: str
    shown: Sequence[str] = ()
    hidden: Sequence[str] = ()
    notice: str = ""


CASES = [
    Case("sup.html", POWERS, [r"\b105\b", r"\b427\b"]),
    Case("sup.docx", POWERS, [r"\b105\b", r"\b427\b"]),
    Case("sup.pdf", POWERS, [r"\b105\b", r"\b427\b"]),
    Case("emptycell.html", ["Country: Arvania; Hospitals: –; Schools: 45"]),
    Case("emptycell.md", ["Country: Arvania; Hospitals: –; Schools: 45"]),
    Case("rowspan.html", ["Region: North; Year: 2020; Yield: 34"]),
    Case("longtable.html", ["Country: Land30; Hospitals: 33; Schools: 100; Theatres: 2"]),
    Case("heads.html", ["Revenue rose by 12 percent in 2024"]),
    Case("heads.md", ["Staff fell to 310 people"]),
    Case("onepara.pdf", ["340 crowns", "900 sacks"]),
    Case("shortcolumns.pdf", ["budget for the next two years of 340 crowns"]),
    Case("invoices.pdf", ["Arvan mill", "340 crowns", "512 crowns", "98 crowns"]),
    Case("keyfigures.pdf", ["Staff: 8,112", "EBIT: 310 m", r"\(2023: 120 m\)"]),
    Case("table.pdf", ["Country: Belmark; Hospitals: 12; Schools: 30", "Hospitals: –; Schools: 45"]),
    Case("mixedscan.pdf", ["Report of mills"], notice="no text on page 2, 3, only pictures"),
    Case("math.html", [r"E=mc\^2"]),
    Case("textbox.docx", ["67 barges"], ["67 barges(?s:.)*67 barges"]),
    Case("cells.txt", ["1200", "1350"]),
    Case("junk_after.pdf", ["The tower is 42"]),
    Case("junk_before.pdf", ["The tower is 42"]),
    Case("rotated90.pdf", ["The tower is 42"]),
    Case("polish.txt", ["Główna ulica"], notice="not UTF-8: read as cp1250"),
    Case("turkish.txt", ["Öğrenciler"], notice="not UTF-8: read as cp1254"),
    Case("russian.txt", ["Библиотека"], notice="not UTF-8: read as koi8_r"),
    Case("french.txt", ["L’été"], notice="not UTF-8: read as mac_roman"),
    Case("shy.html", ["Unternehmensbesteuerung"]),
    Case("hidden.html", hidden=["cheese", "soup", "sand"], notice="11 words left out: hidden"),
    Case("del.html", ["The fee is 250 crowns"], ["300"], notice="1 word left out: struck"),
    Case("at.md", [r"\[12V@2A at most\]"]),
    Case("abstract_list.json", ["900 sacks"]),
]


@pytest.fixture(scope="module")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIALECTREE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        return read_sources(FOLDER)


def document(sources: Sources, name: str) -> Document:
    return next(one for one in sources.documents if one.name == name)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.file)
def test_a_file_says_what_it_says(awkward: Sources, case: Case) -> None:
    text = "\n".join(block.text for block in document(awkward, case.file).passages)
    assert text
    for pattern in case.shown:
        assert re.search(pattern, text), pattern
    for pattern in case.hidden:
        assert not re.search(pattern, text), pattern
    notices = [line for line in awkward.notices if line.startswith(f"{case.file}: ")]
    assert [line for line in notices if case.notice in line] == notices
    assert bool(notices) is bool(case.notice)


def test_a_row_of_a_long_table_is_cut_with_the_names_of_its_columns(awkward: Sources) -> None:
    pieces = [piece.text for piece, _ in cut(document(awkward, "longtable.html").passages)]
    (row,) = [piece for piece in pieces if "Land30;" in piece]
    assert "Country: Land30; Hospitals: 33" in row


async def test_the_words_of_a_heading_find_what_stands_under_it(awkward: Sources) -> None:
    other = Document.from_blocks("o.txt", [Block("The sky was grey over the town, and a dog ran past.")])
    corpus = Corpus([document(awkward, "faq.md"), other])
    [best] = await corpus.search(["When is the toy museum shut?"], 1)
    assert "On Mondays" in best[0].text


SKY, DOG = "The sky was grey.", "A dog ran by."
FINDS = [
    ("Le cafe\u0301 vend du the\u0301.", "café thé", [SKY, DOG]),
    ("CO₂ fell.", "CO2", [SKY, DOG]),
    ("서울의 인구는 940만 명이다.", "서울 인구", [SKY, DOG]),
    ("It weighs 5kg.", "5 kg", ["It took 5 hours.", DOG]),
    ("They pretrained it.", "pre-trained", [SKY, DOG]),
    ("Send an e-mail now.", "email", [SKY, DOG]),
    ("כָּתַב שָׁלוֹם", "שלום", [SKY, DOG]),
    ("ห้องสมุดเปิดเก้าโมง", "ห้องสมุด", [SKY, DOG]),
    ("Книги лежат на столе.", "книга", [SKY, DOG]),
    ("Die Straße ist lang.", "strasse", [SKY, DOG]),
    (
        "The town has 12500 people.",
        "12,500 people",
        ["The village has 125 people and 500 cows.", "It took 12 hours and 500 people came."],
    ),
]


@pytest.mark.parametrize(("fact", "query", "others"), FINDS, ids=[row[1] for row in FINDS])
async def test_words_find_other_spellings_of_themselves(fact: str, query: str, others: list[str]) -> None:
    corpus = Corpus(
        [Document.from_blocks(f"{n}.txt", [Block(text)]) for n, text in enumerate([*others, fact])]
    )
    [best] = await corpus.search([query], 3)
    assert best[0].text == fact


async def test_forms_of_a_word_find_each_other() -> None:
    rows = [row.split("|") for row in (FOLDER.parent / "facts.tsv").read_text().splitlines()]
    facts = [fact for fact, _, _ in rows]
    corpus = Corpus([Document.from_blocks(f"{n}.txt", [Block(fact)]) for n, fact in enumerate(facts)])
    best = await corpus.search([question for _, question, _ in rows], 1)
    right = sum(row[0].text == fact for row, fact in zip(best, facts, strict=True) if row)
    assert right >= 58, right


CUT = [
    "पुस्तकालय नौ बजे खुलता है।|वह आठ बजे बंद होता है।|यह पुराना है।",
    "متى يفتح؟|يفتح في التاسعة.|يغلق في الثامنة.",
    "It grew fast.12|It fell later.13,14|It ended.",
    "Am 3. Juli kam er.|Es war heiß.",
    "Das gilt z.B. für Mühlen.|Es ist so.",
    "Der 2. Weltkrieg endete 1945.|Danach war Frieden.",
    "It grew.¹²|It fell.",
    "M. Dupont est venu hier.|Il est parti ce matin.",
    "W 1990 r. przyszedł.|Potem wyszedł.",
    "Dne 3. července přišel.|Bylo horko.",
    "В 1990 г. он умер.|Потом пришёл брат.",
    "El Sr. López vino ayer.|Se fue hoy.",
    "یہ کتاب ہے۔|وہ گھر ہے۔",
    "ይህ መጽሐፍ ነው።|ያ ቤት ነው።",
    "Սա գիրք է։|Դա տուն է։",
    "នេះជាសៀវភៅ។|នោះជាផ្ទះ។",
    "Smith et al. Agree, e.g. here.|Done.",
]


@pytest.mark.parametrize("text", CUT)
def test_sentences_end_as_their_language_ends_them(text: str) -> None:
    whole = text.replace("|", " ")
    assert [whole[start:end] for start, end in sentences(whole)] == text.split("|")


def test_a_name_that_is_not_utf8_is_shown_and_read(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    with open(path, "wb") as file:
        file.write(b"The mill grinds 900 sacks.\n")
    for given in (tmp_path, os.fsdecode(path)):
        [read], notices = read_sources(given)
        assert (read.name, notices) == ("caf\\xe9.txt", ())
