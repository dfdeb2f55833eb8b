"""Show what only a comparison of two papers has: the topics and segments behind each sentence.

The report shows topics, turns and claims as for other debates.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from dialectree.records import Node, RunRecord, Segment, path_key, segment_key
from dialectree.report.node_data import Letter, Sentence, read_fields, topic_of
from dialectree.text import count, line

PROPOSED = "Suggested in the debate, claimed by neither paper"


def grounds(record: RunRecord) -> list[str]:
    """Return the two papers, each by its letter, its title, its file and its BibTeX key."""
    both: Any = record.input.get("papers") or []
    lines: list[str] = []
    for letter, paper in zip("ab", both, strict=False):
        about = ", ".join(line(str(paper[of]), 120) for of in ("name", "key") if paper.get(of))
        title = line(str(paper.get("title") or ""), 200) or "–"
        lines.append(f"Paper {letter}: {title}" + (f" ({about})" if about else ""))
    return lines


def answer(record: RunRecord) -> list[str]:
    """Return the outcome in plain paragraphs, with the topics and segments behind each sentence.

    Return nothing if a person gave the verdict, or if there are no sentences.
    """
    root = record.tree.nodes.get(record.tree.root)
    sentences = topic_of(root).sentences if root is not None else []
    text = record.verdict.answer if record.verdict is not None else None
    if text is None or any(s.text not in text for s in sentences if s.part != "proposal"):
        return []
    alike, apart, proposals = (
        [_referring(s) for s in sentences if s.part == part]
        for part in ("similarity", "difference", "proposal")
    )
    paragraphs = [" ".join(alike), " ".join(apart)]
    if proposals:
        paragraphs.append("\n- ".join([f"{PROPOSED}:", *proposals]))
    return [paragraph for paragraph in paragraphs if paragraph]


def _referring(sentence: Sentence) -> str:
    """Return a sentence with its topics, its segments and its faults."""
    nodes = ", ".join(sorted(sentence.nodes, key=path_key))
    segments = ", ".join(sorted(sentence.segments, key=segment_key))
    grounds = "; ".join(part for part in (nodes, segments) if part)
    faults = f"[marked: {'; '.join(sentence.faults)}]" if sentence.faults else ""
    return " ".join(filter(None, [sentence.text, f"[{line(grounds, 2000)}]" if grounds else "", faults]))


def heading(record: RunRecord) -> str:
    """Return the heading above the details of the nodes."""
    topics = any(node.kind == "topic" for node in record.tree.nodes.values())
    return "The topics" if topics else "The replies"


def outcome(node: Node) -> str:
    """Return the outcome of a topic's debate: ``b concedes``, ``neither concedes``."""
    positions = topic_of(node).positions
    losers: list[Letter] = sorted(last.paper for last in positions if last.concedes)
    if node.dropped:
        return "dropped by a person"
    if not positions and node.parent is None:
        return f"split into {count(len(node.children), 'topic')}" if node.children else ""
    if not positions:
        return "no argument" if node.status == "missing" else "not debated yet"
    if losers:
        return "both concede" if len(losers) == 2 else f"{losers[0]} concedes"
    return "neither concedes" if len(positions) > 1 else f"only {positions[0].paper} argues"


MARKDOWN = """
{% macro appendix() %}
{% for segment in own.find_cited(record) %}
{% if loop.first %}
## Evidence

{% endif %}
{{ segment.id | bold }}{% if segment.heading %} · {{ segment.heading }}{% endif %}
{% if segment.page is not none %} · p. {{ segment.page }}{% endif %}
{% if segment.contested %} · **in a person’s words, not the paper’s**{% endif +%}

{{ segment.text | block_quote }}

{% endfor %}
{% endmacro %}
"""


class _Citing(BaseModel):
    """A reply that names segments."""

    evidence: list[str] = []


def find_cited(record: RunRecord) -> list[Segment]:
    """Return the segments that a sentence, an argument or a claim names, in the order of the papers."""
    ids = set[str]()
    for node in record.tree.nodes.values():
        topic = topic_of(node)
        ids.update(*(sentence.segments for sentence in topic.sentences))
        ids.update(*(position.evidence for position in topic.positions))
        ids.update(*(claim.evidence for claim in topic.all_claims))
        ids.update(*topic.counter.values())
        ids.update(*(read_fields(_Citing, turn.fields).evidence for turn in node.transcript))
    segments = record.tree.segments
    return [segments[name] for name in sorted(ids & segments.keys(), key=segment_key)]
