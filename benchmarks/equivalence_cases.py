"""The cases of ``benchmarks.equivalence``, and the program that runs them in one checkout.

It is run as a script by the interpreter of each checkout, so it uses the public interface alone.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import os
import pkgutil
import re
import sys
import urllib.request
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

Json = Any

TOGETHER = 6
"""Cases under way at once."""
QUESTION = "Which harbour had the first electric crane, and what did it replace?"
POLAR = "Is the northern harbour older than the southern one?"
CLAIM = "The northern harbour is older than the southern one."
SUBJECTS = ("noise", "priors", "memory", "outliers", "sampling", "scaling", "drift", "clouds")
PAPERS = [
    {
        "title": f"{name}: orbits from few observations",
        "abstract": f"We estimate orbits by {name} and bound the error.",
        "introduction": f"{name} began as a way to treat noise. It is used for orbits here.",
        "body": "\n\n".join(
            f"{name} treats {subject} as a part of the estimate, and says how far it can be wrong. "
            f"The {subject} of a night is known before the next one, which {name} relies on. "
            f"Without {subject} the error of {name} grows by {len(subject) + n} percent."
            for n, subject in enumerate(subjects)
        ),
    }
    for name, subjects in (("Ladders", SUBJECTS[:6]), ("Meshes", SUBJECTS[2:]))
]
_GIVEN: dict[str, list[Json]] = {
    "Q": [QUESTION],
    "P": [POLAR],
    "Q2": [QUESTION, ["animal products", "oil products"]],
    "Q4": [QUESTION, ["coal", "peat", "oil", "whale blubber"]],
    "P2": [POLAR, ["Yes", "No"]],
    "Q1": [QUESTION, ["only"]],
    "C": [CLAIM],
    "T": [*PAPERS, "how the error of an orbit is bounded"],
    "-": [" "],
}
_TABLE = """
answer  | default *2           | Q  |    |
answer  | default, polar       | P  |    |
answer  | small *4             | Q  | fc | max_nodes=7 max_depth=2
answer  | small, polar *4      | P  | fc | max_nodes=7 max_depth=2
answer  | depth 0              | Q  | c  | max_depth=0
answer  | depth 1              | Q  |    | max_depth=1 max_children=3
answer  | depth 2              | Q  |    | max_depth=2 max_children=2
answer  | depth 3              | P  |    | max_depth=3 max_nodes=12 min_depth=0
answer  | fixed                | Q  |    | depth_profile=fixed max_nodes=9
answer  | safety               | Q  |    | depth_profile=safety min_depth=2 max_nodes=11
answer  | never stop *2        | Q  |    | stop_threshold=0 max_nodes=7
answer  | stop early *2        | Q  |    | stop_threshold=0.5 max_nodes=7
answer  | stop always          | Q  |    | stop_threshold=1 max_nodes=7
answer  | again *2             | Q  | fc | second_pass_below=1 second_pass_leaves=2 max_nodes=7
answer  | again, polar *2      | P  |    | second_pass_below=0.5 max_nodes=7
answer  | again, rsd *2        | Q  |    | second_pass_below=1 max_nodes=5 leaf_protocol=rsd
answer  | again, art *2        | P  |    | second_pass_below=1 max_nodes=5 leaf_protocol=art
answer  | rsd leaves           | P  | fc | leaf_protocol=rsd max_nodes=4 judge_orders=both allow_uncertain=true
answer  | rsd leaves, crossed  | Q  |    | leaf_protocol=rsd max_nodes=4 cross_examination=simultaneous
answer  | rsd leaves, person   | P  | a  | leaf_protocol=rsd max_nodes=4 judge=me
answer  | art leaves           | P  | fc | leaf_protocol=art max_nodes=4 breadth=2 judge_orders=both
answer  | art leaves, trees    | P  |    | leaf_protocol=art max_nodes=4 trees=2 prune_below=0.2
answer  | art leaves, euler    | P  |    | leaf_protocol=art max_nodes=4 semantics=euler root_strength=estimated
answer  | art at the root      | P  | c  | leaf_protocol=art max_depth=0 blend=1
answer  | rounds               | P  |    | leaf_rounds=1 synthesis_rounds=3 max_nodes=7
answer  | two nodes            | Q  |    | max_nodes=2
answer  | ask *6               | Q  | a  | max_nodes=4
answer  | roles                | Q  |    | max_nodes=4 roles={"leaf_judge":"+j","leaf_debater_a":"+a"}
answer  | single_shot          | Q  | fc | method_name=single_shot
answer  | best_of_n            | Q  | fc | method_name=best_of_n
answer  | best of three        | P  |    | method_name=best_of_n samples=3
answer  | two_round            | Q  | fc | method_name=two_round
answer  | budget               | Q  |    | max_calls=2
answer  | nothing              | -  |    |
decide  | two                  | Q2 | fc |
decide  | two, polar           | P2 |    |
decide  | open *6              | Q  | fc |
decide  | four *6              | Q4 |    |
decide  | both orders *6       | Q2 | fc | judge_orders=both allow_uncertain=true
decide  | gate *6              | Q2 | fc | gate=3
decide  | open gate *3         | P  |    | gate=2
decide  | knockout             | Q4 | fc | candidates=knockout
decide  | knockout of two      | Q2 |    | candidates=knockout
decide  | simultaneous         | Q2 | c  | cross_examination=simultaneous
decide  | oracle               | Q4 |    | candidates=oracle gold=C
decide  | oracle, random       | Q4 |    | candidates=oracle gold=C distractor=random
decide  | balanced, random     | Q4 |    | candidates=balanced gold=C distractor=random
decide  | balanced, model *2   | Q4 | f  | candidates=balanced gold=C distractor=model
decide  | person *3            | Q2 | ac | judge=me
decide  | person, uncertain *2 | Q2 | a  | judge=me allow_uncertain=true
decide  | person, knockout     | Q4 | a  | judge=me candidates=knockout
decide  | nobody there         | Q2 |    | judge=me
decide  | self_consistency     | Q2 | fc | method_name=self_consistency
decide  | open votes           | Q  |    | method_name=self_consistency
decide  | four votes           | Q4 |    | method_name=self_consistency samples=4
decide  | judge_alone          | Q2 | fc | method_name=judge_alone
decide  | judge_alone, open    | Q  |    | method_name=judge_alone
decide  | judge_alone, oracle  | Q4 |    | method_name=judge_alone candidates=oracle gold=B
decide  | roles                | Q2 |    | roles={"judge":"+j","debater_b":"+b"}
decide  | one option           | Q1 |    |
decide  | no gold              | Q4 |    | candidates=oracle
verify  | default              | C  | fc |
verify  | wide *3              | C  | fc | breadth=2 depth=2
verify  | bradley_terry *3     | C  | c  | breadth=2 depth=2 strength_rule=bradley_terry
verify  | ties *2              | C  |    | breadth=2 depth=2 strength_rule=bradley_terry ties=half judge_orders=both
verify  | blend 0              | C  |    | breadth=2 depth=2 blend=0
verify  | blend 1 *2           | C  | fc | breadth=2 depth=2 blend=1
verify  | quadratic_energy     | C  |    | breadth=2 depth=2 semantics=quadratic_energy
verify  | euler                | C  |    | breadth=2 depth=2 semantics=euler
verify  | estimated            | C  | fc | root_strength=estimated
verify  | both orders          | C  | c  | breadth=3 judge_orders=both
verify  | pruned               | C  |    | breadth=2 depth=2 prune_below=0.4
verify  | trees                | C  | fc | trees=3 root_strength=estimated
verify  | deep                 | C  |    | depth=3
verify  | argllm               | C  | fc | method_name=argllm
verify  | argllm, estimated    | C  |    | method_name=argllm root_strength=estimated breadth=2 depth=2
verify  | direct               | C  | fc | method_name=direct
verify  | cot                  | C  | fc | method_name=cot
verify  | roles                | C  |    | roles={"pairwise_judge":"+j","attacker":"+b"}
verify  | a question           | P  |    |
compare | default              | T  |    | embeddings=bm25
compare | depth 1 *3           | T  | fc | embeddings=bm25 max_depth=1
compare | depth 2, paper       | T  |    | embeddings=bm25 max_depth=2 max_subtopics=2 expansion_rule=paper
compare | depth 2, reference   | T  |    | embeddings=bm25 max_depth=2 max_subtopics=2
compare | per segment          | T  | f  | embeddings=bm25 max_depth=1 max_claims=2 segments=3 filter=per_segment
compare | alternating          | T  | c  | embeddings=bm25 max_depth=1 max_claims=2 turns=alternating
compare | alternating, deeper  | T  |    | embeddings=bm25 max_depth=2 max_subtopics=2 turns=alternating
compare | no_tree              | T  | fc | embeddings=bm25 method_name=no_tree
compare | no_tree, alternating | T  |    | embeddings=bm25 method_name=no_tree turns=alternating filter=per_segment
compare | roles                | T  |    | embeddings=bm25 max_depth=1 roles={"moderator":"+m","persona_b":"+b"}
compare | alone *2             | T  | f  | method_name=no_self_deliberation max_depth=2 max_subtopics=2
compare | alone, alternating   | T  |    | method_name=no_self_deliberation max_depth=2 turns=alternating
compare | single_stage         | T  | fc | method_name=single_stage
compare | two_stage            | T  | fc | method_name=two_stage
"""  # noqa: E501
"""Verb, name and how often (with other seeds), what is given, marks, settings.

Of the cases with mark f, calls are made to fail; those with c are contested; with a, a person is
asked. Of several only the first one is marked f and c.
"""
_ABLATIONS = """
decide  | {0}                  | Q2 | fc | method_name={0}
decide  | {0}, open *5         | Q  |    | method_name={0}
decide  | {0}, both orders *2  | Q2 | f  | method_name={0} judge_orders=both allow_uncertain=true
decide  | {0}, person          | Q2 | a  | method_name={0} judge=me
decide  | {0}, gate *2         | Q2 |    | method_name={0} gate=2
decide  | {0}, agreed          | Q2 |    | method_name={0} gate=1
decide  | {0}, distractor      | Q4 | f  | method_name={0} candidates=oracle gold=D distractor=model
"""
_COMMANDS = {
    "answer": f"answer '{POLAR}' --max-nodes 5",
    "decide": f"decide '{QUESTION}' --option coal --option peat --seed 4",
    "verify": f"verify '{CLAIM}' --breadth 2 --blend 0.3",
    "with a wrong setting": f"answer '{POLAR}' --max-depth 99",
}
_EVALUATIONS = {
    "choices": "--methods rsd,self_consistency,no_role_switch --vote-first 3",
    "oracle": "--methods rsd,judge_alone --candidates oracle --repeats 2",
    "claims": "--methods art,argllm,direct --breadth 2",
}


def _cases() -> dict[str, Json]:
    """Return every case by its name."""
    found: dict[str, Json] = {}
    ablations = map(_ABLATIONS.format, ("no_role_switch", "no_uncertainty", "basic"))
    for line in "".join([_TABLE, *ablations]).split("\n"):
        if not line:
            continue
        verb, name, given, marks, settings = (part.strip() for part in line.split("|"))
        name, _, times = name.partition(" *")
        for n in range(int(times or 1)):
            found[f"{verb} {name}{f', {n + 1}' if n else ''}"] = {
                "verb": verb,
                "given": _GIVEN[given],
                "settings": {"seed": len(found), **dict(map(_setting, settings.split()))},
                "fails": "f" in marks and not n,
                "contested": "c" in marks and not n,
                "asks": "a" in marks,
            }
    for name, words in _COMMANDS.items():
        found[f"command {name}"] = {"words": f"{words} --runs {{out}} --json --quiet"}
    question, options = _GIVEN["Q4"]
    items = [{"question": f"{question} ({n})", "options": options, "gold": "B"} for n in range(4)]
    claims = [{"claim": f"{CLAIM} ({n})", "label": n % 2 == 0} for n in range(4)]
    for name, words in _EVALUATIONS.items():
        lines = [json.dumps(row) for row in (claims if name == "claims" else items)]
        words = f"eval {{file}} {words} --out {{out}} --quiet"
        found[f"evaluation of {name}"] = {"words": words, "file": "\n".join(lines)}
    return found


def _setting(text: str) -> tuple[str, Json]:
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


CASES = _cases()


class Runner:
    """Runs jobs one beside the other, and keeps what came of each step."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.places = asyncio.Semaphore(TOGETHER)
        self.steps: dict[str, dict[str, Json]] = {}

    async def job(self, job: Mapping[str, Json]) -> None:
        """Run one case, and the contests of its run."""
        case, name = CASES[job["case"]], job["name"]
        model = job.get("model") or "".join(c if c.isalnum() else "_" for c in name)
        self.steps[name] = {}
        waits = "500" in name  # for the next attempt, most of the time
        async with asyncio.Semaphore() if waits else self.places:
            if "words" in case:
                await self._command(name, model, case)
                return
            first = await self._step(name, "run", model, self._begin(case, model))
            if first is not None and first["status"] == "partial" and "400" not in name:
                again = self._api("aresume", first["run_id"], base_url=f"{self.url}/v1")
                await self._step(name, "resume", model, again)
            for number, chain in enumerate(job["contests"]):
                record = first
                for wishes in chain:
                    if record is not None:
                        changed = self._contest(record["run_id"], wishes, case)
                        label = f"contest {number}, {json.dumps(wishes)}"
                        record = await self._step(name, label, model, changed)

    async def _step(self, name: str, step: str, model: str, work: Json) -> Json:
        """Await ``work``, a run; return its record and keep it with the requests of it."""
        made: dict[str, Json] = {}
        try:
            record = await work
            made["record"] = json.loads(record.model_dump_json(by_alias=True))
        except Exception as error:  # whatever is raised is compared
            made["error"] = [type(error).__name__, _timeless(str(error))]
            if run_id := getattr(error, "run_id", None):
                made["record"] = json.loads(Path("runs", run_id, "run.json").read_text())
        made["requests"] = await asyncio.to_thread(self._taken, model)
        self.steps[name][step] = made
        return made.get("record")

    def _taken(self, model: str) -> Json:
        key = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
        request = urllib.request.Request(f"{self.url}/taken?model={model}", headers=key)
        with urllib.request.urlopen(request) as response:
            return json.loads(response.read())

    async def _begin(self, case: Mapping[str, Json], model: str) -> Json:
        settings: dict[str, Json]
        settings = {"model": f"openai:{model}", "base_url": f"{self.url}/v1", "cache": False}
        settings |= case["settings"]
        roles = settings.get("roles", {})
        settings["roles"] = {role: f"openai:{model}{suffix}" for role, suffix in roles.items()}
        if settings.get("leaf_protocol", "debate") != "debate" and find_spec("dialectree.protocol"):
            other = importlib.import_module("dialectree.protocol").protocol(
                settings["leaf_protocol"]
            )
            own = {name for name in other.own_settings() if name in settings and name != "ask"}
            settings["leaf"] = {name: settings.pop(name) for name in own}
        return await self._api(f"a{case['verb']}", *case["given"], **_asking(case), **settings)

    async def _contest(self, run: str, wishes: Sequence[Json], case: Mapping[str, Json]) -> Json:
        room = next(filter(find_spec, ("dialectree.contests", "dialectree.contest")))
        wanted = [getattr(importlib.import_module(room), kind)(*parts) for kind, *parts in wishes]
        address = f"{self.url}/v1"
        return await self._api("acontest", run, wanted, base_url=address, **_asking(case))

    async def _api(self, verb: str, *given: Json, **named: Json) -> Json:
        call = getattr(importlib.import_module("dialectree"), verb)
        return await call(*given, runs="runs", **named)

    async def _command(self, name: str, model: str, case: Mapping[str, Json]) -> None:
        """Run the command line in a process of its own."""
        folder = Path("commands", model)
        folder.mkdir(parents=True)
        (folder / "data.jsonl").write_text(case.get("file", ""))
        words = [a or b for a, b in re.findall(r"'(.*?)'|(\S+)", case["words"])]
        words = [w.format(file=folder / "data.jsonl", out=folder / "out") for w in words]
        words += ["--model", f"openai:{model}", "--base-url", f"{self.url}/v1", "--no-cache"]
        command = (sys.executable, "-P", "-m", "dialectree", *words)
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
        out, err = await process.communicate()
        made: dict[str, Json] = {"output": [process.returncode, _timeless(err.decode())]}
        if process.returncode in (0, 5) and "file" not in case:
            made["record"] = json.loads(out)
        for lines in folder.glob("out/results.jsonl"):
            results = map(_untimed, map(json.loads, lines.read_text().splitlines()))
            made["output"] += sorted(results, key=lambda result: (result["row"], result["item"]))
        made["requests"] = await asyncio.to_thread(self._taken, model)
        self.steps[name] = {"run": made}


def _asking(case: Mapping[str, Json]) -> dict[str, Json]:
    return {"ask": person} if case["asks"] else {}


def person(asked: Mapping[str, str]) -> str:
    """Answer for the person: by what is asked, and at first with a label that is none."""
    drawn = blake2b(json.dumps(dict(asked), sort_keys=True).encode()).digest()[0]
    if asked["kind"] == "judge":
        labels = [*asked["labels"].split(", "), ""]
        known = drawn % 2 or "is no such label" in asked["request"]
        return labels[drawn // 2 % len(labels)] if known else "Z"
    return ["the one in the north", "", "all of them"][drawn % 3]


def _timeless(text: str) -> str:
    """Leave out what differs from one run to the next: ids of runs, paths, seconds."""
    text = re.sub(r"\d{8}-\d{6}-\w+|\b[\d.]+ s\b", "…", text)
    return text.replace(str(Path.cwd()), "…").replace(sys.prefix, "…")


_CLOCKED = ("run", "run_id", "started", "ended", "wall_s", "embedding_s", "seconds")


def _untimed(value: Json) -> Json:
    """Return ``value`` without what differs from one run to the next."""
    if isinstance(value, list):
        return [_untimed(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _untimed(item) for name, item in value.items() if name not in _CLOCKED}


def _watch_nodes() -> Counter[str]:
    """Count which nodes of LangGraph run, by the identity of what they are bound to."""
    runner: Any = importlib.import_module("langgraph.pregel._runner")
    ran: Counter[str] = Counter()
    real = runner.arun_with_retry

    async def counted(task: Any, *rest: Any, **named: Any) -> Any:
        ran[str(id(task.proc))] += 1
        return await real(task, *rest, **named)

    runner.arun_with_retry = counted
    return ran


def _nodes() -> dict[str, str]:
    """Return every node of every graph of the package, by its identity."""
    from langgraph.graph.state import CompiledStateGraph

    rooms = importlib.import_module("dialectree.graphs").__path__
    for room in pkgutil.walk_packages(rooms, "dialectree.graphs."):
        importlib.import_module(room.name)
    graphs = [g for g in gc.get_objects() if isinstance(g, CompiledStateGraph)]
    return {
        str(id(node.node)): f"{graph.name}/{name}"
        for graph in graphs
        for name, node in graph.nodes.items()
        if name != "__start__"
    }


async def _all(url: str, jobs: Sequence[Mapping[str, Json]]) -> Json:
    """Run ``jobs``; return the steps of each, and which nodes of which graphs ran."""
    warnings.simplefilter("ignore")
    ran, runner = _watch_nodes(), Runner(url)
    nodes = _nodes()
    await asyncio.gather(*map(runner.job, jobs))
    reached = Counter({nodes[id_]: count for id_, count in ran.items() if id_ in nodes})
    home = str(importlib.import_module("dialectree").__file__)
    drawn = sorted({*nodes.values()})
    return {"steps": runner.steps, "reached": reached, "nodes": drawn, "home": home}


if __name__ == "__main__":
    address, job_file, step_file = sys.argv[1:]
    made = asyncio.run(_all(address, json.loads(Path(job_file).read_text())))
    Path(step_file).write_text(json.dumps(made))
