"""Lists the data sets by name: licence, source, citation, and the pin of the published file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dialectree.evals import published
from dialectree.evals.fetching import Pin
from dialectree.evals.items import Item, Task
from dialectree.evals.tables import Row


@dataclass(frozen=True)
class Dataset:
    """A data set before a row of it is read."""

    name: str
    task: Task
    version: str
    licence: str
    source: str
    citation: str
    form: str
    """The fields of a row in the documented form."""
    item: Callable[[Row], Item]
    """Returns the item of a row of the documented form."""
    count: int | None = None
    """Items in the whole set, where known."""
    pin: Pin | None = None
    """The published file; None: the set is read from a file of the user only."""
    published: Callable[[Path, str], Iterator[Row]] | None = None
    """Yields rows of the documented form from the published file."""


_TRUTHFULQA = Pin(
    "https://raw.githubusercontent.com/p4l4ni/LLM_HALLUCINATION/"
    "a56b9db3da6e180b30c3e03fd3f21cb161a00a12/TruthfulQA.csv",
    "764be5c0c27c337baed4db641555c125428569df44a8dbf9b28796a6ce4d7616",
)
_OPENBOOKQA = Pin(
    "https://raw.githubusercontent.com/AGI-Edgerunners/LLM-Adapters/"
    "816657208af4db747803f87ba40a4c71383fed7a/dataset/openbookqa/test.json",
    "8479930f7b8a26052c78250280b5465a4016ca7fc806af440d0f37e243f3099e",
)
_STRATEGYQA = Pin(
    "https://raw.githubusercontent.com/eladsegal/strategyqa/"
    "1ba1e97452e189569357876f2854b01357ffbe37/data/strategyqa/dev.json",
    "0d94842ffb022db8fd5ecd2168b785d5cf67f6faf64f665476bad544a3eb9dde",
)
_TREE_OF_DEBATE = Pin(
    "https://raw.githubusercontent.com/pkargupta/tree-of-debate/"
    "e2a311f23cd8d6fc8ffc94e5dc4312a7661490a9/dataset/tree_of_debate_dataset.tsv",
    "4ff5d15771510e880d4f58f1747eb79ff5b5bc96495573a57e32135ca8c9a58b",
)
_TRUTHFULQA_SOURCE = (
    "github.com/sylinrl/TruthfulQA, by its copy in github.com/p4l4ni/LLM_HALLUCINATION"
)
_TRUTHFULQA_FORM = "id, question, category, best_answer, best_incorrect_answer"

CATALOGUE: Mapping[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            name="truthfulqa",
            task="answer",
            version="January 2025, generation",
            licence="Apache-2.0",
            source=_TRUTHFULQA_SOURCE,
            citation="Lin, Hilton and Evans: TruthfulQA. ACL 2022",
            form=f"{_TRUTHFULQA_FORM}, correct_answers, incorrect_answers",
            item=published.truthfulqa,
            count=790,
            pin=_TRUTHFULQA,
            published=published.truthfulqa_file,
        ),
        Dataset(
            name="truthfulqa-binary",
            task="decide",
            version="January 2025, two options",
            licence="Apache-2.0",
            source=_TRUTHFULQA_SOURCE,
            citation="Lin, Hilton and Evans: TruthfulQA. ACL 2022; Evans, Chua and Lin, 2025",
            form=f"{_TRUTHFULQA_FORM}, binary_order",
            item=published.truthfulqa_binary,
            count=790,
            pin=_TRUTHFULQA,
            published=published.truthfulqa_file,
        ),
        Dataset(
            name="openbookqa",
            task="decide",
            version="main, test",
            licence="Apache-2.0",
            source="github.com/allenai/OpenBookQA, by github.com/AGI-Edgerunners/LLM-Adapters",
            citation="Mihaylov, Clark, Khot and Sabharwal: OpenBookQA. EMNLP 2018",
            form="id, question, choices, answer (place of the right one, from 0)",
            item=published.openbookqa,
            count=500,
            pin=_OPENBOOKQA,
            published=published.openbookqa_file,
        ),
        Dataset(
            name="strategyqa",
            task="verify",
            version="dev, as claims",
            licence="MIT",
            source="github.com/eladsegal/strategyqa",
            citation="Geva, Khashabi, Segal, Khot, Roth and Berant: StrategyQA. TACL 2021",
            form="id, question, answer (true or false)",
            item=published.strategyqa,
            count=229,
            pin=_STRATEGYQA,
            published=published.strategyqa_file,
        ),
        Dataset(
            name="medqa",
            task="verify",
            version="claims made of its questions",
            licence="as your file's",
            source="a file of yours, by --data",
            citation="Jin, Pan, Oufattole, Weng, Fang and Szolovits: MedQA. 2020",
            form="id, claim, label (true or false)",
            item=published.claims,
        ),
        Dataset(
            name="tree-of-debate",
            task="compare",
            version="pairs of papers by title, abstract and introduction",
            licence="Apache-2.0 (the collection); the texts are their authors'",
            source="github.com/pkargupta/tree-of-debate",
            citation="Kargupta and others: Tree-of-Debate. ACL 2025",
            form="id, topic, method_or_task, cites, paper_a and paper_b {title, abstract, ...}",
            item=published.tree_of_debate,
            count=97,
            pin=_TREE_OF_DEBATE,
            published=published.tree_of_debate_file,
        ),
    )
}
