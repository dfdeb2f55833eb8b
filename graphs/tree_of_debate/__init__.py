"""Tree-of-Debate: its declaration. ``graph`` has the graph of the paper's figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dialectree.nodes.tree_of_debate.state import SAMPLES, Input, Settings
from dialectree.protocols.look import Look
from dialectree.protocols.phases import PhaseOrder
from dialectree.protocols.protocol import WITHDRAWN, Dataset, Evaluation, Phase, Protocol, Variant

_HERE = "dialectree.graphs.tree_of_debate"
_NODES = "dialectree.nodes.tree_of_debate"


def _make_summary_field(text: str) -> dict[str, Any]:
    """Return the field of a reply that makes ``text`` the comparison."""
    return {"summary": text}


def _summary(text: str) -> dict[str, Any]:
    """Return the fields that make ``text`` the comparison, with no topic or segment to rest on."""
    sentence = {"text": text, "nodes": [], "segments": []}
    return {"similarities": [], "differences": [sentence], "proposals": []}


_PAIRS = Dataset(
    name="tree-of-debate",
    task="compare",
    version="pairs of papers by title, abstract and introduction",
    licence="Apache-2.0 (the collection); the texts are their authors'",
    source="github.com/pkargupta/tree-of-debate",
    citation="Kargupta and others: Tree-of-Debate. ACL 2025",
    form="id, topic, method_or_task, cites, paper_a and paper_b {title, abstract, ...}",
    row=f"{_HERE}:pair",
    count=97,
    url="https://raw.githubusercontent.com/pkargupta/tree-of-debate/"
    "e2a311f23cd8d6fc8ffc94e5dc4312a7661490a9/dataset/tree_of_debate_dataset.tsv",
    sha256="4ff5d15771510e880d4f58f1747eb79ff5b5bc96495573a57e32135ca8c9a58b",
    published=f"{_HERE}:parse_published_rows",
)

protocol = Protocol(
    name="tod",
    title="Tree-of-Debate",
    summary="Let two papers debate a topic, part by part; say what they share and what not.",
    source="Tree-of-Debate (Kargupta et al.)",
    command="compare",
    examples=(
        'one.pdf other.pdf --topic "how memory is saved"',
        '1706.03762 2312.00752 --topic "long inputs" --max-depth 2',
    ),
    input=Input,
    settings=Settings,
    outcome="comparison",
    view="topics",
    look=Look(
        stops={
            "clear_winner": "one paper has clearly won",
            "no_progress": "the debate got no further",
            "one_topic": "this method debates all in one",
        },
        captions={
            "direct": "Direct answers",
            "present": "The case of each paper",
            "respond": "Questions and objections",
            "revise": "Revised claims",
            "progress": "Whether to go on",
            "relevance": "Which passages matter",
            "subtopics": "Topics to debate next",
            "claims_a": "Claims of paper a",
            "claims_b": "Claims of paper b",
            "raised_by": "Raised by",
            "concedes": "Grants the point",
            "progression_of_arguments": "The arguments got further",
            "open_questions": "Open questions",
            "clear_winner": "One paper has clearly won",
            "similarities": "What both papers share",
            "differences": "Where they differ",
            "proposals": "Proposed here, claimed by neither",
            "nodes": "Topics",
            "segments": "Passages",
            "number": "Chosen summary",
            "explanation": "Why",
        },
    ),
    unit="topic",
    graph=f"{_HERE}.graph:graph",
    roles={"persona_a": "persona", "persona_b": "persona", "moderator": ""},
    prompts=("tree_of_debate",),
    requires="dialectree[compare]",
    install_advice="brings PyTorch: 3 GB on Linux, or 0.3 GB after "
    "pip install torch --index-url https://download.pytorch.org/whl/cpu",
    only_variants=("samples",),
    presets={
        "fast": {"max_depth": 1, "max_subtopics": 2, "max_claims": 2},
        "usual": {},
        "thorough": {"expansion_rule": "paper", "turns": "alternating"},
        "paper_expansion": {"expansion_rule": "paper"},
        "per_segment": {"filter": "per_segment"},
        "alternating": {"turns": "alternating"},
    },
    prepare=f"{_NODES}.papers:prepare",
    phases=(
        Phase(
            role="persona",
            name="present",
            reply=(f"{_NODES}.persona:ArgumentReply",),
            editable=("description", "title"),
            switches=("concedes",),
            optional=True,
        ),
        Phase(
            role="persona",
            name="respond",
            reply=(f"{_NODES}.persona:ResponseReply",),
            editable=("description",),
            switches=("concedes",),
            optional=True,
        ),
        Phase(
            role="persona",
            name="revise",
            reply=(f"{_NODES}.persona:ArgumentReply",),
            editable=("description", "title"),
            switches=("concedes",),
            optional=True,
        ),
        Phase(
            role="moderator", name="summary", reply=(f"{_NODES}.comparison:SummaryReply",), ruling=_summary
        ),
        Phase(
            role="summariser",
            reply=(f"{_NODES}.comparison:PaperSummaryReply",),
            editable=("summary",),
            withdrawn={"summary": WITHDRAWN},
        ),
        Phase(
            role="sampler",
            reply=(f"{_NODES}.comparison:ComparisonReply",),
            editable=("summary",),
            optional=True,
        ),
        Phase(
            role="comparer",
            reply=(f"{_NODES}.comparison:ComparisonReply",),
            editable=("summary",),
            ruling=_make_summary_field,
        ),
    ),
    order=PhaseOrder(
        phases=(
            *("direct", "present", "respond", "revise", "progress", "claims", "relevance", "subtopics"),
            *("summary", "answer"),
        )
    ),
    demo="demo",
    evaluation=Evaluation(
        task="compare",
        paper_names={
            "tod": "ToD",
            "no_tree": "ToD (No Tree)",
            "no_self_deliberation": "ToD (No SD)",
            "single_stage": "Single Stage",
            "two_stage": "Two Stage",
            "best_comparison": "Best-of-{samples}",
        },
        plainest=("single_stage", "two_stage"),
        equal_tokens="best_comparison",
        audit={"alone": "single_stage", "samples": "best_comparison", "debate": "tod"},
        argue=("persona_a", "persona_b"),
        samples=SAMPLES,
        unmarked=f"{_NODES}.comparison:remove_program_marks",
        datasets=(_PAIRS,),
    ),
    variants=(
        Variant(
            name="no_tree",
            title="without a tree",
            summary="All subtopics are one debate.",
            graph=f"{_HERE}.graph:no_tree",
            reads=("max_subtopics", "max_claims", "segments", "filter", "turns", "embeddings"),
        ),
        Variant(
            name="no_self_deliberation",
            title="without self-deliberation",
            summary="No evidence, no claims before the split.",
            graph=f"{_HERE}.graph:no_self_deliberation",
            reads=("max_depth", "max_subtopics", "max_claims", "expansion_rule", "turns"),
            prompts=("tree_of_debate", "no_self_deliberation"),
        ),
        Variant(
            name="single_stage",
            title="both papers compared in one step, without debate",
            summary="One model compares both papers at once.",
            graph=f"{_HERE}.graph:single_stage",
            reads=(),
            roles={"comparer": ""},
            prompts=("single_stage",),
            baseline=True,
            calls=lambda settings: 1,
        ),
        Variant(
            name="two_stage",
            title="a summary of each paper, then a comparison, without debate",
            summary="One model summarises each paper, then compares the summaries.",
            graph=f"{_HERE}.graph:two_stage",
            reads=(),
            roles={"summariser": "", "comparer": ""},
            prompts=("two_stage",),
            baseline=True,
            calls=lambda settings: 3,
        ),
        Variant(
            name="best_comparison",
            title="the best of several comparisons, without debate",
            summary="One model compares both papers several times, and a picker takes the best.",
            graph=f"{_HERE}.graph:best_comparison",
            reads=("samples",),
            roles={"sampler": "", "picker": ""},
            prompts=("single_stage", "best_comparison"),
            baseline=True,
        ),
    ),
)


_PARTS = ("title", "abstract", "introduction")
_COLUMNS = (
    *("topic", "url_a", "title_a", "abstract_a", "introduction_a"),
    *("url_b", "title_b", "abstract_b", "introduction_b", "task", "cites"),
)


def pair(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return two papers, their topic and a category, such as ``method, cited``.

    ``method`` means that the papers differ in method but not in task, ``cited`` that one cites the
    other.
    """
    cited = str(row["cites"]).lower() in ("true", "1", "yes")
    fields = {
        "category": f"{row['method_or_task']}, {'cited' if cited else 'not cited'}",
        "topic": row["topic"],
    }
    for side in "ab":
        paper = row[f"paper_{side}"]
        if not isinstance(paper, dict):
            raise ValueError(f"'paper_{side}' is not an object with title, abstract, introduction")
        fields |= {f"{part}_{side}": paper.get(part) for part in (*_PARTS, "body")}
    return fields


def parse_published_rows(text: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of tree_of_debate_dataset.tsv: one pair per line, eleven cells, no quoting.

    Lines broken by a stray tab or line break are left out; an id has the line's number.
    """
    for place, line in enumerate(text.split("\n")[1:]):
        cells = [cell.strip() for cell in line.rstrip("\r").split("\t")]
        if len(cells) != len(_COLUMNS) or not {cells[-2], cells[-1]} <= {"0", "1"}:
            continue
        row = dict(zip(_COLUMNS, cells, strict=True))
        yield {
            "id": f"tod-{place:03}",
            "topic": row["topic"],
            "method_or_task": "task" if row["task"] == "1" else "method",
            "cites": row["cites"],
            **{f"paper_{s}": {part: row[f"{part}_{s}"] for part in _PARTS} for s in "ab"},
        }
