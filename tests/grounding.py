"""Grounded debates with a scripted model: sources, speakers that point at them, and runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, PrivateAttr

from dialectree.protocols.protocol import method
from dialectree.protocols.settings import build_settings
from dialectree.retrieval.sources import read_sources
from dialectree.running.runner import RunHandle, prepare_graph_input
from dialectree.running.runner import begin as begin_run
from tests.breaking_off import Fragile
from tests.contesting import speakers
from tests.scripted import Asked, Said

SOURCES = {
    "tides.md": "# Tides\n\nThe moon pulls the sea. The tide comes twice a day. A spring tide is "
    "40 % higher.\n\nThe sun pulls the sea, too. Its pull is weaker than the moon's.",
    "cows.txt": "What cows eat\n\nCows eat grass and other plant materials. They chew it twice."
    "\n\nNo cow eats animal products. A cow of 600 kg eats 50 kg of grass a day.",
    "clay.md": "# Clay\n\nSome animals lick clay for its minerals. It is no food.",
}

Say = Callable[[Asked, Mapping[str, str]], Mapping[str, Any]]
"""Returns the fields of a reply that point, of the call and the sentences by name."""


def written(folder: Path, sources: Mapping[str, str] = SOURCES) -> Path:
    """Write sources into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in sources.items():
        (folder / name).write_text(text)
    return folder


def shown(prompt: str) -> dict[str, str]:
    """The sentences that a prompt shows, by name."""
    return dict(re.findall(r"^\[(e\d+)\] (.*)$", prompt, re.MULTILINE))


def point(call: Asked, sentences: Mapping[str, str]) -> dict[str, Any]:
    """One point that names the first two sentences; a ruling rests on the first."""
    names = [*sentences]
    if not names:
        return {"evidence": [], "look_for": [], "rests_on": []}
    cited = [{"point": f"So says {call.role}.", "sentences": names[:2]}]
    return {"evidence": cited, "look_for": ["Which animals lick clay?"], "rests_on": names[:1]}


class Pointing(Fragile):
    """Plays every role; its replies point at sentences wherever they may."""

    _point: Say = PrivateAttr(default_factory=lambda: point)
    _verdicts: str = PrivateAttr(default="yes")

    def will_point(self, say: Say) -> None:
        """Let ``say`` choose."""
        self._point = say

    def _next(self, call: Asked) -> Said:
        if call.kind == "CheckReply":
            names = re.findall(r"^(p\d+): ", call.prompt, re.MULTILINE)
            marks = [{"point": n, "reason": "It does.", "verdict": self._verdicts} for n in names]
            return json.dumps({"marks": marks})
        said = super()._next(call)
        if not isinstance(said, BaseModel):
            return said
        own, more = said.model_dump(mode="json"), self._point(call, shown(call.prompt))
        if "- `rests_on`:" in call.prompt:
            return json.dumps({"rests_on": more["rests_on"], **own})
        if found := re.search(r"^In each entry of `(\w+)` write", call.prompt, re.MULTILINE):
            items = [{"evidence": more["evidence"], **one} for one in own[found[1]]]
            return json.dumps({**own, found[1]: items})
        if "- `evidence`:" in call.prompt:
            return json.dumps({"evidence": more["evidence"], "look_for": more["look_for"], **own})
        return said


def pointing(model: Pointing | None = None) -> Pointing:
    """A model that plays every role."""
    made = model or Pointing()
    speakers(model=made)
    return made


def begin(name: str, text: str, runs: Path, sources: Path | Sequence[Path], **values: Any) -> RunHandle:
    """Return a grounded run about ``text``; the reply cache is off unless ``values`` say so."""
    chosen = method(name)
    fields = chosen.protocol.input.model_fields
    given = {field: values.pop(field) for field in fields if field in values}
    given[next(name for name, one in fields.items() if one.is_required())] = text
    settings = build_settings(chosen.protocol.settings, **{"cache": False, "embeddings": "bm25", **values})
    paths = [sources] if isinstance(sources, Path) else [*sources]
    read = read_sources(paths)
    listed = [
        {"id": f"s{n}", "name": one.name, "title": one.title, "digest": one.digest}
        for n, one in enumerate(read.documents, 1)
    ]
    takes: Any = {**prepare_graph_input(chosen, given, settings), "sources": listed}
    return begin_run(chosen, takes, settings, runs)
