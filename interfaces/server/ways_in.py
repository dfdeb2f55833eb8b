"""Tell what a person brings to a protocol: a claim, a choice, a question or two papers; give examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from dialectree.interfaces.fields import arguments
from dialectree.protocols.forms import subject
from dialectree.protocols.protocol import Protocol

WayIn = Literal["claim", "choice", "question", "papers"]


def find_way_in(protocol: Protocol) -> WayIn:
    """Return what the protocol's input is about, from the fields that it declares.

    Two required files are papers, options are a choice, and a text called a claim is one. Every
    other text is a question, unless the protocol says how probable it is.
    """
    fields = arguments(protocol.input).model_fields
    if len(_list_files(protocol)) > 1:
        return "papers"
    if "options" in fields:
        return "choice"
    if subject(protocol.input) == "claim" or protocol.outcome == "probability":
        return "claim"
    return "question"


def list_examples(protocol: Protocol) -> list[dict[str, Any]]:
    """Return three inputs to begin with, in the fields of the protocol; none if it needs more fields."""
    inputs: list[dict[str, Any]] = []
    for example in _EXAMPLES[find_way_in(protocol)]:
        given: dict[str, Any] = dict(zip(_list_files(protocol), example.papers, strict=False))
        if text := subject(protocol.input):
            given[text] = example.text
        if example.options:
            given["options"] = [*example.options]
        inputs.append(given)
    fields = arguments(protocol.input).model_fields
    required = {name for name, field in fields.items() if field.is_required()}
    return [given for given in inputs if required <= given.keys() <= fields.keys()]


def _list_files(protocol: Protocol) -> list[str]:
    """Return the names of the required fields that take a file."""
    fields = arguments(protocol.input).model_fields.items()
    return [name for name, field in fields if field.is_required() and Path in get_args(field.annotation)]


class Example(NamedTuple):
    """An input to begin with, in no protocol's fields."""

    text: str
    """A claim, a question, or the topic of papers."""
    options: Sequence[str] = ()
    papers: Sequence[Mapping[str, str]] = ()


def _paper(title: str, abstract: str, body: str) -> dict[str, str]:
    return {"title": title, "abstract": abstract, "body": body}


_ADAPTERS = _paper(
    "A note on adapter layers",
    "A large model is adapted to a task by small layers that are put between its own layers. Only "
    "these new layers are trained, so that one copy of the model serves many tasks.",
    "# Introduction\n\nTo train all weights of a large model for each task takes much memory, and a copy "
    "of the model for each task.\n\n# Method\n\nAfter each block of the model we put two small matrices "
    "with a non-linear function between them. The model's own weights stay as they are. The new layers "
    "have about three percent of its weights.\n\n# Results\n\nThe adapted model is nearly as good as one "
    "that was trained whole. Each reply takes a little longer, since every block has one more layer.",
)
_LOW_RANK = _paper(
    "A note on low-rank adaptation",
    "A large model is adapted to a task by adding to each weight matrix the product of two thin "
    "matrices. Only these are trained, and after training they are merged into the weights.",
    "# Introduction\n\nThe change that a task makes to the weights of a large model has a low rank. So it "
    "can be learnt as a product of two thin matrices.\n\n# Method\n\nWe freeze the weights and train the "
    "thin matrices of the attention layers alone. They have far less than one percent of the model's "
    "weights.\n\n# Results\n\nThe adapted model is as good as one that was trained whole. Since the "
    "product is added to the weights after training, a reply takes no longer than before.",
)
_ATTENTION = _paper(
    "A note on attention over whole inputs",
    "Every word of an input looks at every other word. The model finds distant connections in one "
    "step, and pays for it with work that grows with the square of the length.",
    "# Introduction\n\nModels that read word by word forget what stood far above.\n\n# Method\n\nEach word "
    "asks all words which of them matter to it, and takes a weighted mean of their contents. All words "
    "do so at the same time, which suits parallel hardware.\n\n# Results\n\nThe model translates better "
    "than models that read word by word, and is trained in less time. An input of twice the length takes "
    "four times the work and memory.",
)
_STATE_SPACE = _paper(
    "A note on selective state spaces",
    "An input is read once from left to right into a state of fixed size. The input itself decides "
    "what the state keeps, and the work grows only in proportion to the length.",
    "# Introduction\n\nAttention over very long inputs is expensive.\n\n# Method\n\nA state of fixed size is "
    "updated at each word. How much it keeps and how much it takes in depends on the word. A scan "
    "computes all updates in parallel.\n\n# Results\n\nOn inputs of up to a million words the model is as "
    "good as attention of the same size, and writes several times as fast. It is worse where it has to "
    "copy a long text exactly, since the state is small.",
)
_SAMPLES = _paper(
    "A note on voting over samples",
    "One model answers a question many times, each time with its own chain of reasons. The answer that "
    "occurs most often is returned.",
    "# Introduction\n\nA single chain of reasons may go wrong early.\n\n# Method\n\nWe draw forty answers at "
    "a high temperature and count the final answers. The samples do not see one another, so all of them "
    "are drawn at once.\n\n# Results\n\nOn word problems the most frequent answer is right far more often "
    "than a single one. It does not help where the model is wrong in the same way each time.",
)
_VOICES = _paper(
    "A note on debate between models",
    "Two copies of a model argue for different answers in several rounds, and a judge decides. "
    "Arguments that the other side takes apart lose their weight.",
    "# Introduction\n\nA judge who knows less than the debaters still needs to see which of them is "
    "right.\n\n# Method\n\nEach debater reads the other's argument before it speaks again. The judge reads "
    "the transcript alone.\n\n# Results\n\nJudges are right more often after a debate than after hearing "
    "one side. A debate takes several calls in a row, so that it is slower than samples drawn at once.",
)
_EXAMPLES: Mapping[WayIn, Sequence[Example]] = {
    "claim": [
        Example("Chameleons change colour for camouflage."),
        Example("Tea has more caffeine than coffee."),
        Example("Lightning never strikes the same place twice."),
    ],
    "choice": [
        Example(
            "What happens if you crack your knuckles a lot?",
            ["You get arthritis.", "Nothing harmful happens."],
        ),
        Example("Is a hot dog a sandwich?", ["yes", "no"]),
        Example(
            "How should a team of three begin a new web service?",
            ["As one program, to be split later", "As several services from the start"],
        ),
    ],
    "question": [
        Example("Why do cities grow although living there costs more?"),
        Example("Should a town close its centre to cars?"),
        Example("What would it take to feed ten billion people without more farmland?"),
    ],
    "papers": [
        Example("how a large model is adapted with few weights", papers=(_ADAPTERS, _LOW_RANK)),
        Example("how long inputs are read", papers=(_ATTENTION, _STATE_SPACE)),
        Example("whether more samples or more voices help", papers=(_SAMPLES, _VOICES)),
    ],
}
