"""The files that the commands of the documents name, and what they would fetch from elsewhere."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

BODY = [
    "# Introduction",
    "A ladder of estimates narrows an orbit step by step. Each step keeps what the last one found.",
    "# Method",
    "The bound on the error halves with every observation. A mesh would need all of them at once.",
]
ABSTRACT = "We estimate orbits from few observations and bound the error."
LATEX = rf"""\documentclass{{article}}
\title{{Meshes for orbits}}
\begin{{document}}
\maketitle
\begin{{abstract}}{ABSTRACT}\end{{abstract}}
\section{{Introduction}} A mesh holds every observation at once. It costs memory for that.
\section{{Method}} The mesh is refined where the error is largest. No step is taken back.
\end{{document}}
"""
PLAIN = "Meshes for orbits\n\nAbstract\n\n{}\n\n1 Introduction\n\n{}\n\n2 Method\n\n{}\n"
TABLE = "Frage,a,b,richtig\nIst Feuer heiß?,ja,nein,a\nIst Eis heiß?,ja,nein,b\n"
CATS = {
    "question": "Can cats see in the dark?",
    "category": "Animals",
    "best_answer": "A little",
    "best_incorrect_answer": "Yes, as by day",
    "correct_answers": ["A little"],
    "incorrect_answers": ["Yes, as by day"],
    "binary_order": "BA",
}
OPTIONS = {"options": ["warm", "cold", "dry"], "gold": "B"}
ROWS: dict[str, list[dict[str, Any]]] = {
    "openbookqa": [{"question": "Ice is", "choices": ["warm", "cold", "dry"], "answer": 1}],
    "strategyqa": [{"question": f"Is a cube round ({n})?", "answer": False, "facts": []} for n in (1, 2)],
    "truthfulqa": [CATS],
    "truthfulqa-binary": [CATS],
}


def write_files(folder: Path) -> None:
    """Write the papers and the table that the documents speak of."""
    for name, title in (("ladder", "Ladders"), ("one", "Ladders"), ("other", "Meshes")):
        (folder / f"{name}.pdf").write_bytes(pdf(title))
    (folder / "mesh.tex").write_text(LATEX)
    text = PLAIN.format(ABSTRACT, BODY[1], BODY[3])
    (folder / "ladder.txt").write_text(text)
    (folder / "mesh.md").write_text(f"# Meshes\n\n## Introduction\n\nA mesh is wide. {BODY[3]}\n")
    (folder / "notes").mkdir(exist_ok=True)
    (folder / "notes" / "cows.txt").write_text("What cows eat\n\nCows eat grass. They chew it.\n")
    (folder / "notes" / "tides.md").write_text("# Tides\n\nThe moon pulls the sea.\n")
    (folder / "answer.md").write_text("Fire is hot.\n\nIce is cold, and water is wet.\n")
    (folder / "mine.csv").write_text(TABLE)
    (folder / "mine.jsonl").write_text(json.dumps(ROWS["openbookqa"][0] | OPTIONS) + "\n")


def pdf(title: str) -> bytes:
    """Return a paper that speaks of its own title."""
    from tests.retrieval import pdfs

    return pdfs.paper([*BODY, f"This is the way of {title}."], title=f"Orbits by {title}", abstract=ABSTRACT)


def data_set(name: str, folder: Path) -> Path:
    """Write and return a small file in the documented form of the data set ``name``."""
    path = folder / f"{name}.jsonl"
    rows = ({"id": f"q{n}", **row} for n, row in enumerate(ROWS[name]))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def use_local_files() -> None:
    """Take data sets and papers of arXiv from here instead of the network."""
    from dialectree.evals import datasets
    from dialectree.retrieval import arxiv

    patch.object(datasets, "fetch_dataset", lambda known: data_set(known.name, Path.home())).start()
    patch.object(arxiv, "fetch_pdf", pdf).start()


def main() -> None:
    """Run ``dialectree`` with the arguments of this process and with the files from here."""
    from dialectree.interfaces.cli import main

    if {"eval", "compare"} & {*sys.argv[1:2]}:
        use_local_files()
    main()
