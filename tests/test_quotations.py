"""Quotations in free text: the true ones stay, and a long false one is not read by anybody."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialectree.quantities import find_missing_quantities
from dialectree.quotations import QuotationSearch, quotations, remove_false_quotations

ROOT = Path(__file__).resolve().parents[1]
MARKS = """"" “” „“ „” «» »« ‹› 「」 『』 ＂＂ 〝〞 〝〟 ”” ❝❞ '' ‘’ ‚‘""".split()  # noqa: SIM905
PAIRS = [(pair[0], pair[1]) for pair in MARKS] + [("``", "''"), ("« ", " »"), ("«\u00a0", "\u00a0»")]

ENGLISH = """\
Every ladder in the harbour was measured twice, at low tide and at high tide.
On 14 of the 32 quays the steps end 0.4 to 1.2 m above the water – far too high for a swimmer.
The harbour-master's office calls this “a known and tolerable risk”, and has done so since 1998.
Between 2005 and 2015, the workers' union asked for longer ladders seven times; it was heard once.
A ladder that doesn't reach the water isn't a ladder, says the report, it's “furniture”.
The cost of well-made steel steps is about 1,250 € for each quay (installation included).
Longer ladders do not rot, do not rust within 20 years, and need no permit [3, 5].
The efficiency of the first official fittings was never in question: all of them held.
If nothing is done, we expect one to three accidents a year at a 95% level of confidence."""
GERMAN = """\
Jede Leiter im Hafen wurde zweimal gemessen, bei Niedrigwasser und bei Hochwasser.
An 14 von 32 Kais enden die Stufen 0,4 bis 1,2 m über dem Wasser – für Schwimmer viel zu hoch.
Das Hafenamt nennt das seit 1998 „ein bekanntes und hinnehmbares Risiko“ und ändert nichts.
Die Kosten einer Stahl- oder Holztreppe liegen bei rund 1.250 € je Kai, die Montage eingeschlossen.
Längere Leitern verrotten nicht, rosten zwanzig Jahre lang nicht und brauchen keine Genehmigung.
Größe, Höhe und Straßenlage der Kais spielten in der Untersuchung nur eine kleine Rolle."""
FRENCH = """\
Chaque échelle du port a été mesurée deux fois, à marée basse et à marée haute.
Sur 14 des 32 quais, les marches s'arrêtent à 0,4 ou 1,2 m de l'eau, bien trop haut pour un nageur.
La capitainerie parle depuis 1998 d'« un risque connu et tolérable », et n'y change rien.
Aujourd'hui, le coût d'un escalier d'acier est d'environ 1 250 € par quai, pose comprise.
Les échelles plus longues ne pourrissent pas, et l'on n'a besoin d'aucune autorisation."""
JAPANESE = """\
港のすべての梯子は、干潮時と満潮時の二回にわたって測定された。
32の岸壁のうち14か所では、段が水面から0.4〜1.2メートルの高さで終わっている。
港湾局は1998年以来これを「既知の許容できる危険」と呼び、何も変えていない。
長い梯子は腐らず、20年間は錆びることもなく、許可も必要としない。
鋼鉄製の階段の費用は、設置を含めて一つの岸壁につき約1,250ユーロである。"""
CHINESE = """\
港口的每一架梯子都在低潮和高潮时各测量了一次。
在32个码头中，有14个码头的台阶末端高出水面0.4至1.2米，对游泳者来说太高了。
港务局自1998年以来称之为“已知的、可以容忍的风险”，并没有作出任何改变。
较长的梯子不会腐烂，二十年内不会生锈，也不需要许可。"""
LATEX = r"""
Let $h_i$ be the height of step $i$ above the water, with $h_i \le h_{i+1}$ for all $i < n$.
We call a ladder ``safe enough for swimmers'' if $h_1 < 0.1$~m at the lowest tide of the year.
By Lemma~2, the mean of $h_1$ grows as $\mathcal{O}(\sqrt{n})$, see \cite{steps} and Fig.~3."""
TEXTS = [ENGLISH, GERMAN, FRENCH, JAPANESE, CHINESE, LATEX]
SENTENCES = [line for text in TEXTS for line in text.strip().split("\n")]
READ = QuotationSearch(SENTENCES)
AROUND = [
    "The paper says {}, and I agree.",
    "{} is what it says.",
    "- It holds that {}\n- and the users' 6\" pipe isn't 5'10\" long.",
    "它说{}，所以我同意。",
    'They say "so", ({}) and “this”; a `"piece of code that is no quotation"`.',
]
NOISE: list[Callable[[str], str]] = [
    str,
    lambda s: s.translate(str.maketrans("“”’", '""\'')),
    lambda s: s.replace("'", "’"),
    lambda s: re.sub("[.。]$", "", s),
    lambda s: re.sub("[.。]$", ",", s),
    lambda s: re.sub("[–-]", "—", s),
    lambda s: s.replace("–", "-"),
    lambda s: s.replace(" ", "\n", 1),
    lambda s: s.replace(" ", "\u00a0"),
    lambda s: s.replace("ffi", "ﬃ").replace("fi", "ﬁ"),
    lambda s: re.sub(r"([a-z]{3})([a-z]{3})", "\\1\u00ad\\2", s),
    lambda s: f"... {s} …",
    lambda s: re.sub("^([A-Z])([a-z])", lambda m: f"[{m[1].lower()}]{m[2]}", s),
    lambda s: re.sub(r"^(\w+ \w+) \w+ ", r"\1 […] ", s),
    lambda s: re.sub(r"(\w+)\.$", r"**\1**.", s),
    lambda s: s.translate({code: code + 0xFEE0 for code in range(ord("0"), ord("9") + 1)}),
]


def false(sentence: str, draw: random.Random) -> Iterator[str]:
    """Yield the sentence with one word changed, added or left out, or with another figure."""
    words = re.findall(r"[\u3040-\u9fff]|[^\W\d_\u3040-\u9fff](?:\w|['’]\w)*'?|.", sentence)
    place = draw.choice([n for n, word in enumerate(words) if word.isalpha() and 0 < n < len(words) - 2])
    wide = words[place] >= "\u3040"
    for new in ("不", "") if wide else ("never", "", f"not {words[place]}"):
        yield "".join([*words[:place], new, *words[place + 1 :]])
    if figures := re.findall(r"\d+", sentence):
        figure = draw.choice(figures)
        yield re.sub(rf"(?<!\d){figure}(?!\d)", f"{int(figure) + 1}", sentence, count=1)


def test_planted_quotations_are_replaced_where_they_are_false_and_nowhere_else() -> None:
    draw = random.Random(7)
    planted = missed = 0
    for sentence in SENTENCES:
        for first, last in PAIRS:
            around, noise = draw.choice(AROUND), draw.choice(NOISE)
            true = around.format(f"{first}{noise(sentence)}{last}")
            assert remove_false_quotations(true, READ)[0] == true
            for words in false(sentence, draw):
                if READ.holds(noise(words)):
                    continue  # an ellipsis took the changed word
                text = around.format(f"{first}{noise(words)}{last}")
                after, noted = remove_false_quotations(text, READ)
                planted += 1
                missed += after != around.format(f"{first}…{last}")
                assert after == text or noted
                assert remove_false_quotations(after, READ)[0] == after
    assert planted > 1500
    assert missed <= planted / 200


FOUND = {
    '“a b” and "c d", „e f“, „g h” and «i j»': ["a b", "c d", "e f", "g h", "i j"],
    "then ‘c d’ then 'e f', ‹g h› and 「水 と」": ["c d", "e f", "g h", "水 と"],
    "»a b« ›c d‹ ‚e f‘ ”g h” ＂i j＂ 〝k l〟": ["a b", "c d", "e f", "g h", "i j", "k l"],
    "« a b », d'«c d» et d’“e f”": ["a b", "c d", "e f"],
    "``a b'' and `c d', ``e f\"": ["a b", "c d", "e f"],
    "彼は\"そうだそうだ\"と言い，说“这个系统好”": ["そうだそうだ", "这个系统好"],
    "并且GPT“模型很好啊”，「ペンは『剣より』も強い」": ["模型很好啊", "ペンは『剣より』も強い"],
    "‘we’re sure’ and 'we're sure'": ["we’re sure", "we're sure"],
    "'the authors' model wins', they say": ["the authors' model wins"],
    "the authors' model, the users' wish, and it's what we're told": [],
    "a “word”, a 'word', an empty \"\", 「水」 and 5\" or so": [],
    'a 6" pipe, 5\'10" tall, is "so it is" wide': ["so it is"],
    '"a 6" pipe is used"': ['a 6" pipe is used'],
    "says “the ladder stands always": ["the ladder stands always"],
    'a "b c\nd "e f" g\n\nh “i j\nk”': ["b c", "e f", "i j\nk"],
    '“open here, and\n\nclosed” there': ["open here, and"],
    '"He calls it a "black box" of sorts."': ['He calls it a "black box" of sorts.'],
    'code `"a b"` and\n```\nx = "c d"\n```\nends “with `e` f”': ["with `e` f"],
    r"escaped \"a b\" twice": ["a b"],
    "(“a b”), [“c d”]; **\"e f\"**—“g h”": ["a b", "c d", "e f", "g h"],
}  # fmt: skip


@pytest.mark.parametrize(("text", "words"), FOUND.items())
def test_quotations_stand_between_the_marks_of_any_language(text: str, words: list[str]) -> None:
    assert [quotation.text for quotation in quotations(text)] == words
    assert all(text[q.start : q.end] == q.text for q in quotations(text))


@pytest.mark.parametrize(
    ("words", "long"),
    [
        *(("one two three four", False), ("one two three four five", True), ("a — b — c", False)),
        *(("港のすべての梯子は測", False), ("港のすべての梯子は測定さ", True), ("ทุกบันไดในท่าเรือ", True)),
    ],
)
def test_short_quotations_are_noted_only(words: str, long: bool) -> None:
    text = f"so “{words}”"
    assert quotations(text)[0].long == long
    assert remove_false_quotations(text, READ) == ("so “…”" if long else text, [words])


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ("it was heard once. A ladder that doesn’t reach the water", True),  # from one into the next
        ("Every ladder ... at low tide", True),
        ("Every ladder ... in the harbour", True),  # with nothing left out
        ("Every ladder ... one to three accidents", False),  # from one page to another
        ("Every … ladder … in … the … harbour … was … measured … twice … at", False),  # a collage
        ("低潮和高潮时", True),
        ("ﾒｰﾄﾙの高さ", True),
        ("0.4 to 1.2 m", True),
        ("4 to 1.2 m", False),
        ("about 1,250", True),
        ("about 1,25", False),
        ("harbour - master’s office", True),
        ("arbour-master’s", False),
        ("h_i >= h_{i+1}", False),
        ("h_i \\le h_{i+1}", True),
        ("…", False),
        ("", False),
    ],
)
def test_words_count_and_their_setting_does_not(quote: str, stands: bool) -> None:
    assert READ.holds(quote) == stands


PIECES = st.sampled_from([*MARKS, "``", "''", '"', "'", "“", "”", "„", "`", "\n", "\n\n", " ", ". ", "s' "])
MADE = st.lists(PIECES | st.sampled_from(SENTENCES[:2]) | st.text(max_size=9), max_size=12)


@settings(max_examples=150)
@given(MADE.map("".join))
def test_nothing_but_false_quotations_changes(text: str) -> None:
    after, noted = remove_false_quotations(text, READ)
    rebuilt, last = "", 0
    for quotation in quotations(text):
        replaced = quotation.long and quotation.text in noted
        rebuilt += text[last : quotation.start] + ("…" if replaced else quotation.text)
        last = quotation.end
    assert after == rebuilt + text[last:]
    assert remove_false_quotations(text, QuotationSearch([text])) == (text, [])


@pytest.mark.parametrize(
    "text",
    [
        '"' * 100_000,
        "„«‹「" * 5_000,
        "「" * 9 + "“”" * 10_000,
        "“a … " * 9_000,
        '"' + ". " * 50_000,
        "`" * 100_000,
        "\n " * 50_000,
        "1,1 000" * 14_000,
    ],
    ids=lambda text: text[:4],
)
def test_hostile_texts_take_time_in_proportion_to_their_length(text: str) -> None:
    began = time.process_time()
    remove_false_quotations(text, READ)
    QuotationSearch([text]).holds(text)
    find_missing_quantities(text[:600], [text])
    assert time.process_time() - began < 15


@pytest.mark.parametrize(
    ("point", "sentence", "lacking"),
    [
        ("12% of 1,000 in 1998", "In 1998, 12 % of 1000", []),
        ("1.250 oder 0,5", "1,250 and 0.5", []),
        ("1 250, 1'250 and 1,250.0", "1250", []),
        ("12.5 and 3.50", "12,5; 3,5", []),
        ("１２ and ١٢٫٥", "12 and 12.5", []),
        ("1,234,567.8", "1.234.567,8", []),
        ("on 12.03.2020", "2020-03-12", []),
        ("on 13.03.2020", "2020-03-12", ["13.03.2020"]),
        ("3 July 2021", "2021-07-03", []),
        ("on 2021-07-03", "July 3rd, 2021", []),
        ("on 2021-07-03", "le 3 juillet 2021", []),
        ("on 3 July 2021", "on 3 June 2021", ["3 July 2021"]),
        ("in 2021, on the 3rd", "3 July 2021", []),
        ("on 03/07/2021", "2021-03-07", []),
        ("3.1 %", "3,1 %", []),
        ("3.1 percent", "3,1%", []),
        ("3 km", "3 %", ["3 km"]),
        ("3 km", "3 kilometres", []),
        ("3 km", "3 of them", []),
        ("½ of it, or 2½", "0.5; 2.5", []),
        ("0.25", "¼", []),
        ("1.2 million", "1,200,000 people", []),
        ("1,200,000", "1.2 million", []),
        ("1.2 million", "Population (millions): 1.2", []),
        ("1.2 million", "1.2 thousand", ["1.2 million"]),
        ("3 Mrd. Euro", "3 billion €", []),
        ("5 degrees", "−5 degrees", ["5"]),
        ("-5 degrees", "−5 degrees", []),
        ("−5", "5", ["−5"]),
        ("3-5 days", "from 3 to 5 days", []),
        ("H2O by GPT3.5, in e12", "", []),
        ("全体の12%と13%", "12パーセント", ["13%"]),
        ("5 of 1,000", "1 of 35", ["5", "1,000"]),
        ("0.125 and 2.0", "125 and 2", ["0.125"]),
        ("13, 13 and 14 [2]", "12 of [2]", ["13", "14"]),
        ("In 2020 300 came", "2020: 300", []),
        ("since 1.2.34", "1, 2 and 34", []),  # no number, but a row of three
        ("version 1.2.34", "version 1.2.35", ["34"]),
    ],
)
def test_figures_of_a_point_stand_in_its_sentences(point: str, sentence: str, lacking: list[str]) -> None:
    assert find_missing_quantities(point, ["", sentence]) == lacking


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)


@pytest.mark.parametrize("demo", sorted(ROOT.glob("graphs/*/demo")), ids=lambda p: p.parent.name)
def test_no_true_quotation_of_a_demo_is_replaced(demo: Path) -> None:
    files = {path.stem: path.read_text(encoding="utf-8") for path in demo.glob("*.json*")}
    prompts = [json.loads(line)["text"] for line in files["prompts"].splitlines()]
    replies = [json.loads(line)["reply"] for line in files["calls"].splitlines()]
    written = [*map(json.loads, replies), json.loads(files["run"])]
    read = QuotationSearch(prompts)
    for text in [*prompts, *texts(written)]:
        assert remove_false_quotations(text, read)[0] == text
