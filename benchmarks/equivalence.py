"""``python -m benchmarks equivalence --before OLD``: show that two checkouts debate alike.

Each checkout runs the same cases (``benchmarks.equivalence_cases``) with its own interpreter. One
scripted model answers both. What they ask, what they record and what they raise is compared.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks import equivalence_cases
from benchmarks.equivalence_cases import CASES
from tests.endpoint.instances import quoted_schema

Json = Any
Tree = Mapping[str, Any]

# --- The scripted model -------------------------------------------------------------------------

_NOUNS = ("ferry", "harbour", "bridge", "lantern", "orchard", "canal", "archive", "sensor", "dam")
_VERBS = ("limits", "supports", "predates", "replaces", "measures", "delays", "repeats")
_POLAR = re.compile(r"(is|are|was|were|do|does|did|has|have|can|could|will|would)\b", re.IGNORECASE)
_RARELY = {"stop": 0.06, "concedes": 0.25, "clear_winner": 0.3}
"""How often these fields are true."""
_USUALLY = ("approve", *["decompose"] * 4)
"""Words that are chosen more often than the others of their enum."""
_NULL = 0.25


class Reply:
    """Fill a schema with choices drawn from the messages and the seed of a request.

    Each choice depends on the messages, the seed and the path of its property alone. So the order
    of the properties and the other keywords of the schema do not matter.
    """

    def __init__(self, body: Tree, contrary: bool = False) -> None:
        self.texts = [_text(message["content"]) for message in body["messages"]]
        self.digest = _digest([[m["role"] for m in body["messages"]], self.texts, body.get("seed")])
        self.user = self.texts[1] if len(self.texts) > 1 else self.texts[0]
        self.contrary = contrary
        """Whether a ruling's answer is always that of the side which did not win."""

    def draw(self, path: str) -> random.Random:
        """Return the source of the choices at ``path``."""
        return random.Random(f"{self.digest} {path}")

    def value(self, schema: Tree, path: str, root: Tree) -> Json:
        """Return an instance of ``schema``."""
        rng = self.draw(path)
        if "$ref" in schema:
            return self.value(_resolved(schema["$ref"], root), path, root)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            words = schema["enum"]
            return rng.choice([*words, *(word for word in _USUALLY if word in words)])
        if branches := schema.get("anyOf"):
            null = {"type": "null"} in branches and rng.random() < _NULL
            others = [branch for branch in branches if branch.get("type") != "null"]
            return None if null else self.value(others[0], path, root)
        match schema["type"]:
            case "object":
                return self._object(schema, path, root)
            case "array":
                return self._array(schema, path, root)
            case "boolean":
                return rng.random() < _RARELY.get(path.rpartition(".")[2], 0.5)
            case "integer":
                return rng.randint(schema.get("minimum", 0), schema.get("maximum", 100))
            case "number":
                drawn = rng.choice([0.0, 0.5, 1.0, *(round(rng.random(), 2) for _ in range(9))])
                return max(drawn, round(rng.random(), 2)) if "difficulty" in path else drawn
            case _:
                return self._string(path)[: schema.get("maxLength")]

    def _object(self, schema: Tree, path: str, root: Tree) -> dict[str, Json]:
        properties = schema["properties"]
        filled = {
            name: self.value(part, f"{path}.{name}", root)
            for name, part in sorted(properties.items())
        }
        if "answer" in properties:
            self._answer(filled, properties["answer"], path)
        return filled

    def _array(self, schema: Tree, path: str, root: Tree) -> list[Json]:
        rng, places = self.draw(path), schema.get("prefixItems")
        items = schema.get("items") or {}
        low, high = schema.get("minItems", 0), schema.get("maxItems", 6)
        if places:
            return [self.value(part, f"{path}[{n}]", root) for n, part in enumerate(places)]
        if "enum" in items:
            return [name for name in items["enum"] if rng.random() < 0.5][:high]
        few = rng.random() < (0.04 if path == ".children" else 0.25)
        count = min(max(rng.choice([0, 1] if few else [2, 2, 3, 3, 4]), low), high)
        found = [self.value(items, f"{path}[{n}]", root) for n in range(count)]
        for name, part in items.get("properties", {}).items():
            if low == high == len(part.get("enum", ())):  # every id is named once
                found = [{**one, name: id_} for one, id_ in zip(found, part["enum"], strict=True)]
        return found

    def _string(self, path: str) -> str:
        """Return a short text; what its field asks for decides its form."""
        rng, name = self.draw(path), path.rpartition(".")[2]
        words = self._sentence(rng)
        match name:
            case "text" if ".arguments" in path:
                alike = self._sentence(self.draw("the same argument"))
                return rng.choice(["", alike, alike, *[words] * 4])
            case "text" if ".children" in path:
                asked = words.removesuffix(".").lower()
                repeated = self.block("question").strip() or asked
                polar = f"Is it known that {asked}?"
                return rng.choice([polar, polar, f"What follows where {asked}?", repeated])
            case "claim" if side := re.search(r"the answer is (YES|NO)\b", self.user):
                return f"{side[1].title()}, {words}"
            case "claim" | "integration" | "final_answer" if self._polar():
                settled = [self.block("integration")[:3].strip("\n,")] * 8
                return f"{rng.choice([*filter(None, settled), 'Yes', 'No'])}, {words}"
            case "quote":
                return self._copied(rng, "transcript") if rng.random() < 0.6 else words
            case "description" | "text":
                if rng.random() < 0.5:
                    return words
                known = self._copied(rng, "evidence") if rng.random() < 0.7 else self._sentence(rng)
                return f'{words} It says "{known}"'
            case "clarification_request":
                return f"Which {rng.choice(_NOUNS)} is meant?"
            case _:
                return words

    def _answer(self, filled: dict[str, Json], part: Tree, path: str) -> None:
        """Let the answer be one that the prompt offers, and mostly that of the ruling."""
        rng = self.draw(f"{path} answer")
        sides = _entries(self.block("candidates"))
        sides |= dict(re.findall(r"^(\w) defends .*?Last claim: (.*)$", self.user, re.MULTILINE))
        ruling = filled.get("label") or filled.get("winner")
        offered = _entries(self.block("options"))
        if ruling in sides:
            mine = [text for name, text in sides.items() if name == ruling]
            others = [text for name, text in sides.items() if name != ruling] or mine
            pool = others if self.contrary else [*mine * 8, *others, self._sentence(rng)]
            filled["answer"] = rng.choice(pool)
        elif ruling is not None:
            filled["answer"] = ruling
        elif own := self.block("answer").strip():
            filled["answer"] = rng.choice([*[own] * 9, self._sentence(rng)])
        elif offered:
            texts = [*offered.values()]
            filled["answer"] = rng.choice([*texts * 6, *offered, self._sentence(rng)])
        elif "enum" not in part:
            few = random.Random(self.block("question"))
            pool = ["Yes", "No"] if self._polar() else [self._sentence(few) for _ in range(3)]
            filled["answer"] = rng.choice([*pool, pool[0].upper(), self._sentence(rng)])

    def _polar(self) -> bool:
        return _POLAR.match(self.block("question").strip()) is not None

    def _copied(self, rng: random.Random, name: str) -> str:
        """Return some words in a row out of a block of the prompt."""
        words = rng.choice(self.block(name).strip().splitlines() or ["nothing"]).split()[1:]
        start = rng.randrange(max(1, len(words) - 5))
        return " ".join(words[start : start + 6]) or "nothing at all"

    def _sentence(self, rng: random.Random) -> str:
        one, other = rng.sample(_NOUNS, 2)
        return f"The {one} of {rng.randint(1000, 1999)} {rng.choice(_VERBS)} the {other}."

    def block(self, name: str) -> str:
        """Return the text between the tags ``name`` of the user message."""
        found = re.search(rf"<{name}>\n(.*?)</{name}>", self.user, re.DOTALL)
        return found[1] if found else ""


def _resolved(reference: str, root: Tree) -> Tree:
    found = root
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    return found


def _entries(block: str) -> dict[str, str]:
    """Return what stands behind each letter or number at the start of a line."""
    return dict(re.findall(r"^(\w{1,2}): (.*)$", block, re.MULTILINE))


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [])


def _digest(value: Json) -> str:
    return blake2b(json.dumps(value).encode(), digest_size=12).hexdigest()


class Endpoint:
    """An OpenAI-compatible endpoint on loopback; the key of a request names the side that asks.

    A case is known by its model's name. Its requests are kept until the case takes them.
    """

    def __init__(self, faults: Mapping[str, Tree]) -> None:
        self.faults = faults
        """By model: what goes wrong, and the digests of the requests at which it does."""
        self.asked: defaultdict[tuple[str, str], list[Json]] = defaultdict(list)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a chat completion, or hand out the requests of a case."""
        side = request.headers.get("authorization", "").removeprefix("Bearer ")
        if request.path == "/taken":
            return web.json_response(self.asked.pop((side, request.query["model"]), []))
        body = await request.json()
        model = body["model"].partition("+")[0]
        schema = _schema(body)
        entry = _entry(body, schema)
        fault = self.faults.get(model, {})
        kind = fault["kind"] if entry["at"] in fault.get("at", ()) else ""
        entries = self.asked[side, model]
        entries.append(entry)
        if kind in ("400", "500"):
            return _failure(int(kind))
        reply = Reply(body, contrary=kind == "contrary")
        content = json.dumps(reply.value(schema, "", schema))
        if kind in ("prose", "fields") or (kind == "once" and len(body["messages"]) == 2):
            content = "I would rather not say." if kind == "prose" else '{"unexpected": 1}'
        elif kind == "cut":
            content = content[: len(content) // 2]
        refusal = "I cannot help with that." if kind == "refusal" else None
        message = {"role": "assistant", "content": None if refusal else content, "refusal": refusal}
        finish = "length" if kind == "cut" else "stop"
        choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        tokens = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        head = {"id": reply.digest, "object": "chat.completion", "created": 0, "model": model}
        return web.json_response({**head, "choices": [choice], "usage": tokens})


def _schema(body: Tree) -> Tree:
    """Return the schema that came along, or the one that the messages show."""
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        schema: Tree = form["json_schema"]["schema"]
        return schema
    shown = quoted_schema(_text(body["messages"][0]["content"]))
    if shown is None:
        raise ValueError("the request has no schema")
    return shown


def _entry(body: Tree, schema: Tree) -> Json:
    """Return what is compared of a request."""
    messages = [[m["role"], _text(m["content"])] for m in body["messages"]]
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    return {
        "at": _digest([messages[-1][1] if len(messages) == 1 else messages[1][1], body["seed"]]),
        "fields": sorted(schema["properties"]),
        "model": body["model"].partition("+")[2],
        "temperature": body.get("temperature"),
        "top_p": body.get("top_p"),
        "max_tokens": limit,
        "seed": body.get("seed"),
        "messages": messages,
    }


def _failure(status: int) -> web.Response:
    error = {"message": "failed on purpose", "type": "scripted", "param": None, "code": None}
    return web.json_response({"error": error}, status=status)


# --- What is compared of a record: one table for each schema of records --------------------------

Figures = Mapping[str, str | Callable[[Tree], Json]]
"""Where a figure stands in a record or a node: a dotted path, or a function that finds it."""


def _turns_1(node: Tree) -> Json:
    names = ("role", "who", "stage", "round", "take", "side", "label", "names", "fields")
    return [{name: turn[name] for name in names} for turn in node["transcript"]]


_NODE_1 = (
    "text parent children kind depth status stopped earlier provenance notes failures stance tau "
    "theta blended strength comparisons declined dropped added description relevant raised_by "
    "claims retrievals positions sentences"
)
_CONTEST_1 = "changes before after path why held verdict_before verdict_after moved"
RECORDS: Mapping[str, tuple[Figures, Figures]] = {
    "dialectree.run/1": (
        {
            "status": "status",
            "protocol": "protocol",
            "method": "method",
            "demonstration": "demonstration",
            "input": "input",
            "roles": lambda record: sorted(record["models"]),
            "notices": "notices",
            "calls": "usage.calls",
            "critical_path_calls": "usage.critical_path_calls",
            "answer": "verdict.answer",
            "label": "verdict.label",
            "confidence": "verdict.confidence",
            "confidence_source": "verdict.confidence_source",
            "rationale": "verdict.explanation",
            "verdict_notes": "verdict.notes",
            "root": "tree.root",
            "segments": "tree.segments",
            **{f"contest_{name}": f"contest.{name}" for name in _CONTEST_1.split()},
        },
        {
            **{name: name for name in _NODE_1.split()},
            "answer": "verdict.answer",
            "rationale": "verdict.rationale",
            "confidence": "verdict.confidence",
            "local_confidence": "verdict.local_confidence",
            "winner": "verdict.winner",
            "take": "verdict.take",
            "turns": _turns_1,
        },
    ),
}
"""By the schema of a record: the figures of the whole, and those of a node of its tree.

Every schema names the same figures. A figure that a record leaves out counts as null.
"""


def _figures(record: Tree) -> dict[str, Json]:
    """Return what is compared of ``record``, whatever its schema."""
    whole, each = RECORDS[record["schema"]]
    nodes = record["tree"]["nodes"]
    found = {name: _at(record, place) for name, place in whole.items()}
    found["nodes"] = {
        id_: {name: _at(node, place) for name, place in each.items()} for id_, node in nodes.items()
    }
    return found


def _at(value: Json, place: str | Callable[[Tree], Json]) -> Json:
    if callable(place):
        return place(value)
    for name in place.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _comparable(step: Tree, name: str) -> dict[str, Json]:
    """Return one step of a case: its requests, and its record, error or output.

    A refused request ends a run at once. Which others were out by then is a matter of moments.
    """
    if name.endswith("400"):
        return {"error": step.get("error")}
    made: dict[str, Json] = {"requests": sorted(map(_ordered, step["requests"]))}
    if step.get("record") is not None:
        made["record"] = _figures(step["record"])
    return {**made, **{name: step[name] for name in ("error", "output") if name in step}}


def _ordered(request: Tree) -> str:
    """Return a request as a text; ``at`` follows from its messages and its seed."""
    kept = {name: value for name, value in request.items() if name != "at"}
    return json.dumps(kept, sort_keys=True, ensure_ascii=False)


def _differences(before: Json, after: Json, where: str = "") -> Iterator[str]:
    """Name every place at which two values differ, and what stands there."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            there = f"{where}.{name}" if where else name
            if name not in before or name not in after:
                lacking, has = ("before", after) if name not in before else ("after", before)
                yield f"{there}: missing {lacking}; the other has {_shown(has[name])}"
            else:
                yield from _differences(before[name], after[name], there)
    elif where.endswith("requests"):
        yield from _requests(Counter(before), Counter(after), where)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for n, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _differences(one, other, f"{where}[{n}]")
    elif before != after or type(before) is not type(after):
        yield f"{where}: {' became '.join(_shown_apart(before, after))}"


def _requests(before: Counter[str], after: Counter[str], where: str) -> Iterator[str]:
    gone, new = (
        [json.loads(text) for text in sorted(left.elements())]
        for left in (before - after, after - before)
    )
    if not gone and not new:
        return
    yield f"{where}: {before.total()} before, {after.total()} after; {len(gone)} only before"
    for one in gone[:3]:
        alike = [r for r in new if (r["fields"], r["seed"]) == (one["fields"], one["seed"])]
        if alike:
            new.remove(alike[0])
            yield from (f"  {text}" for text in _differences(one, alike[0], "request"))
        else:
            yield f"  only before: {_shown(one)}"
    yield from (f"  only after: {_shown(one)}" for one in new[:2])


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 240 else f"{text[:160]} … {text[-70:]}"


def _shown_apart(before: Json, after: Json) -> Iterator[str]:
    """Show two values; of long ones the part where they begin to differ."""
    texts = [json.dumps(value, ensure_ascii=False) for value in (before, after)]
    pairs = enumerate(zip(*texts, strict=False))
    start = max(0, next((n for n, (one, other) in pairs if one != other), 0) - 60)
    for text in texts:
        yield text if len(text) <= 160 else f"… {text[start : start + 140]} …"


# --- Failing calls and contests, derived from the runs of before ---------------------------------

_KINDS = ("prose", "fields", "500", "once", "refusal", "cut")
_TEXT = "A person wrote this about the lantern."


def _faulty(name: str, requests: Sequence[Tree]) -> Iterator[dict[str, Json]]:
    """Let each form of call fail in a run of ``name``: one such call, and all of them."""
    forms: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for request in requests:
        if request["seed"] is not None and len(request["messages"]) == 2:
            form = (*request["fields"], request["messages"][0][1][:60])
            forms[form].append(request["at"])
    for n, (form, at) in enumerate(sorted(forms.items())):
        one = sorted(at)[0]
        kinds = [("one", _KINDS[n % len(_KINDS)], [one]), ("all", "fields", at)]
        if n == 0:
            kinds += [("all but one", "fields", sorted(at)[1:]), ("one", "400", [one])]
        if {"winner", "answer"} <= {*form} or {"label", "answer"} <= {*form}:
            kinds.append(("all", "contrary", at))
        for which, kind, places in kinds:
            fault = {"kind": kind, "at": places}
            yield {"case": name, "label": f"call {n}, {which} {kind}", "fault": fault}


def _contests(name: str, record: Tree) -> Iterator[dict[str, Json]]:
    """Contest a finished run of ``name`` in every way, each change for itself and in a chain."""
    found = _figures(record)
    nodes, root = found["nodes"], found["root"]
    turns = [*_names_of_turns(nodes)]
    met = [c for node in nodes.values() for c in node["comparisons"] or []]
    edges = [(comparison["supporter"], comparison["attacker"]) for comparison in met]
    arguments = [id_ for id_, node in nodes.items() if node["stance"]]
    others = [id_ for id_ in nodes if id_ != root]
    ends = [*others[:1], *others[-1:]]
    labels = {t["label"] for n in nodes.values() for t in n["turns"] if t["label"]}
    rulings = [*sorted(labels)[:2], "uncertain"] if labels else ["No, a person says otherwise."]
    wishes: list[list[Json]] = [["Drop", place] for place in [*turns, *ends]]
    wishes += [["Rule", place, text] for place in [root, *ends] for text in rulings]
    for place in [*arguments[:1], *arguments[-1:]]:
        wishes += [["Set", place, 0.9], ["Set", place, None], ["Drop", place]]
    for pair in [*edges[:1], *edges[-1:]]:
        wishes += [["Flip", *pair], ["Void", *pair]]
    wishes += [["Set", root, 0.2], ["Add", "attack", root, _TEXT]] if arguments else []
    chains: list[list[list[list[Json]]]] = [[[wish]] for wish in wishes]
    for place in [*turns, *sorted(found["segments"] or {})[:1]]:
        chains.append([[["Replace", place, _TEXT]], [["Restore", place]]])
    if turns:
        place = turns[len(turns) // 2]
        first, second = ["Replace", place, _TEXT], ["Rule", root, rulings[0]]
        chains.append([[first], [second], [["Restore", place]], [["Restore", root]]])
        chains.append([[["Drop", place], second], [["Restore", place], ["Restore", root]]])
    if edges:
        pair = edges[0]
        chains += [
            [[["Flip", *pair], ["Drop", arguments[-1]]], [["Flip", *pair]]],
            [[["Void", *pair]], [["Restore", *pair], ["Set", arguments[0], 0.1]]],
            [[["Drop", arguments[0]]], [["Restore", arguments[0]]]],
            [[["Add", "support", arguments[0], _TEXT]], [["Set", root, 0.7]]],
        ]
    unique = {json.dumps(chain): chain for chain in chains}
    yield {"case": name, "label": "contests", "contests": [*unique.values()]}


def _names_of_turns(nodes: Mapping[str, Tree]) -> Iterator[str]:
    """Name the first turn of every role and stage as a person names it in a contest."""
    seen = set()
    for id_, node in nodes.items():
        for turn in node["turns"]:
            role, who, take = turn["role"], turn["who"], turn["take"]
            if (role, turn["stage"], take) in seen:
                continue
            seen.add((role, turn["stage"], take))
            if role == "debater":
                own = [t for t in node["turns"] if (t["who"], t["take"]) == (who, take)]
                called = [t["label"] or t["names"] for t in own if t["stage"] != "role_switch"]
                who = next(filter(None, called), who)
            stage = f"/{turn['stage']}" if role == "persona" else ""
            again = f"@{take}" if take > 1 else ""
            yield f"{id_}/{who}{turn['round'] or ''}{stage}{again}"


# --- Both sides run ------------------------------------------------------------------------------


async def _run(side: str, checkout: Path, jobs: Sequence[Json], port: int, folder: Path) -> Json:
    """Run ``jobs`` with the interpreter of ``checkout``; return the steps of each job, by name."""
    place = folder / side
    place.mkdir(parents=True, exist_ok=True)
    number = len([*place.glob("jobs-*.json")])
    job_file, step_file = place / f"jobs-{number}.json", place / f"steps-{number}.json"
    job_file.write_text(json.dumps(jobs))
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("DIALECTREE_", "PYTHON"))}
    own = {
        "PYTHONPATH": str(checkout),
        "OPENAI_API_KEY": side,
        "DIALECTREE_CACHE_DIR": str(place / "cache"),
    }
    python, script = checkout / ".venv/bin/python", Path(equivalence_cases.__file__)
    command = ("-P", script, f"http://127.0.0.1:{port}", job_file, step_file)
    process = await asyncio.create_subprocess_exec(python, *command, cwd=place, env={**kept, **own})
    if await process.wait():
        raise SystemExit(f"the cases could not be run in {checkout}")
    made = json.loads(step_file.read_text())
    if not Path(made["home"]).is_relative_to(checkout):
        raise SystemExit(f"{python} does not run the package of {checkout}")
    return made


async def _compare(before: Path, after: Path, pattern: str, folder: Path) -> bool:
    """Run and compare every case that ``pattern`` finds; return whether all are the same."""
    faults: dict[str, Tree] = {}
    endpoint = Endpoint(faults)
    runner = web.ServerRunner(web.Server(endpoint.handle), shutdown_timeout=0.2)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    reached: dict[str, Counter[str]] = {"before": Counter(), "after": Counter()}
    drawn: dict[str, set[str]] = {"before": set(), "after": set()}
    same: Counter[bool] = Counter()
    ends: Counter[str] = Counter()

    async def both(jobs: list[Json]) -> Json:
        sides = (("before", before), ("after", after))
        results = await asyncio.gather(*(_run(s, c, jobs, port, folder) for s, c in sides))
        for (side, _), result in zip(sides, results, strict=True):
            reached[side].update(result["reached"])
            drawn[side].update(result["nodes"])
        for job in jobs:
            one, other = (result["steps"][job["name"]] for result in results)
            alike = [*_told(job["name"], one, other)]
            same.update(alike)
            ends.update(f"{_kind_of(step)} {_end(made)}" for step, made in one.items())
        return results[0]["steps"]

    chosen = {name: case for name, case in CASES.items() if re.search(pattern, name)}
    first = await both([{"case": name, "name": name, "contests": []} for name in chosen])
    derived: list[Json] = []
    for name, case in chosen.items():
        start = first[name]["run"]
        if case.get("fails"):
            derived += _faulty(name, start["requests"])
        if case.get("contested") and start.get("record"):
            derived += _contests(name, start["record"])
    jobs = []
    for job in derived:
        name = f"{job['case']}: {job['label']}"
        model = _digest(name)
        faults[model] = job.pop("fault", {})
        jobs.append({"contests": [], **job, "name": name, "model": model})
    await both(jobs)
    await runner.cleanup()
    for side, nodes in drawn.items() if not pattern else ():
        missed = sorted(nodes - reached[side].keys())
        print(f"{side}: {len(nodes) - len(missed)} of {len(nodes)} nodes of graphs ran", end="")
        print(f"; not {', '.join(missed)}" if missed else "")
    print("before:", ", ".join(f"{count} {end}" for end, count in sorted(ends.items())))
    print(f"{same.total()} steps of {len(chosen) + len(jobs)} cases: ", end="")
    print(f"{same[True]} the same, {same[False]} differ")
    return not same[False]


def _kind_of(step: str) -> str:
    return "contests" if step.startswith("contest") else "runs"


def _end(step: Tree) -> str:
    """Return how a step ended: the status of its record, or the type of its error."""
    if "error" in step:
        return str(step["error"][0])
    return str(step["record"]["status"]) if step.get("record") else "of a command"


def _told(name: str, before: Tree, after: Tree) -> Iterator[bool]:
    """Print one line for a case, or what differs in it; yield for each step whether it is alike."""
    lines: list[str] = []
    for step in dict.fromkeys([*before, *after]):
        found = ["missing on one side"]
        if step in before and step in after:
            made, other = (_comparable(side[step], name) for side in (before, after))
            found = [*_differences(made, other)]
        lines += [f"  {step}: {text}" for text in found[:4]]
        lines += [f"  {step}: and {len(found) - 4} more"] if len(found) > 4 else []
        yield not found
    print(f"{name}: {'differs' if lines else 'same'}", *lines[:12], sep="\n", flush=True)


def main(words: Sequence[str]) -> int:
    """Compare two checkouts; 1 where anything differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks equivalence", description=__doc__)
    here = Path(__file__).resolve().parent.parent
    parser.add_argument("--before", type=Path, required=True, metavar="CHECKOUT")
    parser.add_argument("--after", type=Path, default=here, metavar="CHECKOUT")
    parser.add_argument("--only", default="", metavar="PATTERN", help="cases it is found in")
    parser.add_argument("--keep", type=Path, metavar="NEW", help="leave runs and steps in there")
    given = parser.parse_args(words)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        before, after = given.before.resolve(), given.after.resolve()
        place = given.keep.resolve() if given.keep else Path(folder)
        alike = asyncio.run(_compare(before, after, given.only, place))
    print(f"{time.monotonic() - began:.0f} s")
    return 0 if alike else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
