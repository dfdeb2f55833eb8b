"""The page folds and weighs runs as Python does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dialectree.contests import Change, Drop, Replace, start
from dialectree.errors import BudgetReached, InputError
from dialectree.protocols import plugins
from dialectree.records import Event, RunRecord, turns
from dialectree.records.folder import RunFolder
from dialectree.report.view import product
from dialectree.running.runner import RunHandle, again
from tests import contesting, grounding, running
from tests.breaking_off import Crash, asked
from tests.endpoint import LocalEndpoint
from tests.graphs.role_switching_debate.switching import FIVE, THREE, TWO
from tests.running.test_broken_off import PAPERS, WAYS, Way, begin, speakers
from tests.test_failed_calls import WAYS as FAILING
from tests.test_failed_calls import lossy
from tests.test_failed_calls import start as begin_lossy
from tests.web import grounded
from tests.web.page_script import answers, differences, folded, told

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).parents[2]
Run = tuple[str, RunRecord, list[Event]]


def conduct(run: RunHandle) -> RunFolder:
    with suppress(Crash, BudgetReached):
        asyncio.run(run.conduct())
    return run.folder


def read(name: str, folder: RunFolder) -> Run:
    return name, folder.record(), folder.events()


def demos() -> list[Run]:
    paths = [*ROOT.glob("graphs/*/demo"), *ROOT.glob("examples/*/*/demo")]
    return [read(str(path), RunFolder(path)) for path in sorted(paths)]


def drawn(record: RunRecord, random: Random) -> Change:
    """Return a change of the figures of ``record``."""
    nodes = record.tree.nodes.values()
    met = [f"{one.supporter}:{one.attacker}" for node in nodes for one in node.comparisons]
    places = {
        "set": [f"{n.id}={random.random()!r}" for n in nodes if "tau" in n.scores],
        "drop": [n.id for n in nodes if n.stance],
        "flip": met,
        "void": met,
    }
    kind = random.choice([name for name, some in places.items() if some])
    return Change(change=kind, where=random.choice(places[kind]))


def contested(run: RunFolder, models: dict[str, Any], random: Random) -> RunFolder | None:
    """Contest a turn or a figure; None where the run has neither."""
    record = run.record()
    spoken = [(node, turn) for node in record.tree.nodes.values() for turn in node.transcript]
    names = [text for node, turn in spoken if (text := turns.find_contestable_name(record, node, turn))]
    wishes = [Replace(name, "Another word.") for name in random.sample(names, len(names))]
    if any("tau" in node.scores for node in record.tree.nodes.values()):
        wishes.append(drawn(record, random))
    for wish in wishes:
        with suppress(InputError):
            return conduct(start(run, [wish], run.path.parent, {**models, "cache": False}))
    return None


def family(name: str, begun: Callable[..., RunHandle], models: dict[str, Any]) -> Iterator[Run]:
    """Yield a run, the same stopped by its budget and resumed, and both with a turn contested."""
    random = Random(name)
    run = conduct(begun())
    yield read(name, run)
    stopped = conduct(begun(max_calls=random.randint(1, run.record().usage.calls)))
    resumed = conduct(again(RunFolder(stopped.path), models))
    yield read(f"{name}, resumed", resumed)
    for one in (run, resumed):
        if contest := contested(one, models, random):
            yield read(f"{name}, contested", contest)


def generated(runs: Path) -> Iterator[Run]:
    """Yield runs of every protocol: whole, killed and resumed, contested, made again."""
    for name, way in WAYS.items():
        random = Random(way.calls)
        run = conduct(begin(speakers(), runs, way))
        yield read(name, run)
        broken = begin(speakers(random.randrange(1, way.calls + 1)), runs, way)
        conduct(broken)
        models = asked(broken, speakers())
        yield read(f"{name}, resumed", conduct(again(RunFolder(broken.folder.path), models)))
        if contest := contested(run, models, random):
            yield read(f"{name}, contested", contest)
    yield from grounded_in_files(runs)
    for name, failing in FAILING.items():
        lost = begin_lossy(lossy(fault="no JSON", lost_from=failing.calls // 2), runs, failing)
        conduct(lost)
        resumed = again(RunFolder(lost.folder.path), {"model": lossy()})
        yield read(f"{name}, made again", conduct(resumed))


def grounded_runs(drawn: int = 60) -> list[Run]:
    """Return runs with evidence: whole, contested, and with events of any order."""
    made = [grounded.run(), grounded.contested(), grounded.without_grounds()]
    made += [grounded.drawn(Random(n)) for n in range(drawn)]
    return [(f"grounded {n}", *one) for n, one in enumerate(made)]


def grounded_in_files(runs: Path) -> Iterator[Run]:
    """Yield debates from documents, and contests that take out one, a segment, or another text."""
    files, random = grounding.written(runs.parent / "files"), Random(37)
    given: dict[str, dict[str, Any]] = {
        "rsd": {"options": ["plants", "meat"]},
        "tsd": {"max_depth": 1},
        "art": {},
    }
    for name, more in given.items():
        models = {"model": grounding.pointing()}
        run = conduct(grounding.begin(name, "Cows eat plants.", runs, files, **models, **more))
        yield read(f"{name} from files", run)
        segment = random.choice([*run.record().tree.segments])
        for wish in (Drop("s2"), Drop(segment), Replace(segment, "Another text.")):
            contest = conduct(start(run, [wish], runs, {**models, "cache": False}))
            yield read(f"{name} from files, {wish.flag}", contest)


def check(runs: Iterable[Run], folder: Path) -> None:
    """Compare each run as a whole, and at moments to which the page goes forth and back."""
    random = Random(36)
    moments = [(run, random.sample(range(len(run[2])), 3)) for run in runs]
    found = answers([{**told(run[1], run[2]), "moments": at} for run, at in moments], folder)
    wrong = list[str]()
    for ((name, record, events), places), pages in zip(moments, found, strict=True):
        for n, page in zip([len(events), *places], pages, strict=True):
            expected = folded(record, events[:n])
            if expected["status"] == "running":  # what it takes is told at its end
                del expected["usage"], page["usage"]
            wrong += [f"{name}, {n} events{line}" for line in differences(expected, page)]
    assert not wrong, "\n".join(wrong[:20])


def test_the_page_folds_every_run_as_python_does_at_any_event(tmp_path: Path) -> None:
    check([*demos(), *grounded_runs(), *generated(tmp_path / "runs")], tmp_path)


DRAWN: dict[str, dict[str, list[Any]]] = {
    "tsd": {
        "max_depth": [1, 2],
        "leaf_rounds": [1, 2],
        "second_pass_below": [None, 1.0],
        "leaf_protocol": ["debate", "rsd", "art"],
    },
    "rsd": {
        "options": [[*TWO], [*THREE], [*FIVE]],
        "cross_examination": ["in_turn", "simultaneous"],
        "judge_orders": ["one", "both"],
        "candidates": ["proposed", "knockout"],
        "gate": [0, 2],
    },
    "art": {
        "breadth": [1, 2, 3],
        "depth": [1, 2],
        "trees": [1, 2],
        "judge_orders": ["one", "both"],
        "root_strength": ["neutral", "estimated"],
        "blend": [0.0, 0.5, 1.0],
    },
    "tod": {
        "turns": ["parallel", "alternating"],
        "filter": ["per_claim", "per_segment"],
        "max_depth": [1, 2],
        "max_subtopics": [1, 2],
        "expansion_rule": ["reference", "paper"],
    },
}
EXAMPLES: dict[str, dict[str, Any]] = {
    "mad": {"rounds": 2},
    "majority_debate": {"options": ["yes", "no"], "rounds": 2},
    "reconcile": {"options": ["yes", "no"], "rounds": 2},
    "tribunal": {"options": ["yes", "no", "both"], "rounds": 2},
    "council": {"members": 4},
    "atomic_claims": {"most": 2},
    "atomic_claims settled by rsd": {"most": 2, "settled_by": "rsd"},
    "atomic_claims settled by mad": {"most": 3, "settled_by": "mad"},
    "tsd with leaves of mad": {"max_depth": 1, "leaf_protocol": "mad"},
    "tsd with leaves of majority_debate": {"max_depth": 1, "leaf_protocol": "majority_debate"},
}


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Let this process find the examples as if they were installed."""
    for path in ROOT.glob("examples/*/pyproject.toml"):
        name = path.parent.name
        about = tmp_path / "about" / f"{name}-1.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        entry = f"[dialectree.protocols]\n{name} = {name}:protocol\n"
        (about / "entry_points.txt").write_text(entry)
        monkeypatch.syspath_prepend(path.parent)
    monkeypatch.syspath_prepend(tmp_path / "about")
    plugins.load_declarations.cache_clear()
    yield
    monkeypatch.undo()
    plugins.load_declarations.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("examples")
def test_the_page_folds_drawn_runs_and_those_of_the_examples(tmp_path: Path) -> None:
    random, runs = Random(7), list[Run]()
    for n in range(32):
        method = [*DRAWN][n % len(DRAWN)]
        settings = {name: random.choice(values) for name, values in DRAWN[method].items()}
        given = {"options": settings.pop("options")} if "options" in settings else {}
        way = Way(method, settings, 0, given=PAPERS if method == "tod" else given)
        model = speakers()
        begun = partial(begin, model, tmp_path / "runs", way)
        runs += family(f"{method} {settings}", begun, {"model": model})
    with LocalEndpoint() as endpoint:
        models = {"model": "openai:any", "base_url": endpoint.url}
        for name, values in EXAMPLES.items():
            given = {**models, **values}
            begun = partial(running.begin, name.split()[0], "Is it so?", tmp_path / "runs", **given)
            runs += family(name, begun, models)
    assert len(runs) >= 40 * 3
    check(runs, tmp_path)


SHAPES: list[dict[str, Any]] = [
    {},
    {"semantics": "euler", "root_strength": "estimated"},
    {"semantics": "quadratic_energy", "judge_orders": "both"},
    {"strength_rule": "bradley_terry", "ties": "half", "judge_orders": "both", "blend": 0.8},
    {"strength_rule": "bradley_terry", "prune_below": 0.4, "trees": 2},
    {"blend": 0.0, "prune_below": 0.3, "semantics": "euler"},
    {"blend": 1.0, "judge_orders": "both", "prune_below": 0.2},
    {"strength_rule": "bradley_terry", "semantics": "quadratic_energy", "trees": 3, "breadth": 1},
]


def check_changes(shapes: Iterable[dict[str, Any]], each: int, most: int, folder: Path) -> int:
    """Compare the strengths of ``each`` contest of ``shapes``, of ``most`` changes; count them."""
    random = Random(2026)
    ask: list[dict[str, Any]] = []
    expected: list[dict[str, float]] = []
    for shape in shapes:
        below = "leaf_protocol" in shape
        model = speakers() if below else contesting.speakers()
        usual = {"max_depth": 1} if below else {"breadth": 2, "depth": 2}
        given = {"model": model, **usual, **shape}
        begun = running.begin("tsd" if below else "art", "It is so.", folder / "runs", **given)
        run = conduct(begun)
        record = run.record()
        for _ in range(each):
            wishes = [drawn(record, random) for _ in range(random.randint(1, most))]
            try:
                contest = start(run, wishes, folder / "runs", {"model": model})
            except InputError:  # a tie cannot be flipped, nor what was dropped be set
                continue
            new = conduct(contest).record().tree.nodes
            figures = {id: n.scores["strength"] for id, n in new.items() if "strength" in n.scores}
            root = min(figures, key=len)
            inner: Any = record.settings.get("inner", {})
            settings = inner.get("art", record.settings)
            weigh = {"root": root, "changes": [wish.model_dump() for wish in wishes]}
            ask.append({**told(record, run.events()), "settings": settings, "weigh": weigh})
            expected.append({id: one for id, one in figures.items() if id.startswith(root)})
    for request, figures, page in zip(ask, expected, answers(ask, folder), strict=True):
        strengths = {id: one["strength"] for id, one in page if "strength" in one}
        left = {id: strengths.get(id) for id in figures}
        assert [*differences(figures, left)] == [], (request["settings"], request["weigh"])
    return len(ask)


def test_a_change_moves_every_figure_as_a_contest_does(tmp_path: Path) -> None:
    assert check_changes(SHAPES[:6], 8, 1, tmp_path) > 40


@pytest.mark.slow
def test_two_hundred_changes_move_every_figure_as_contests_do(tmp_path: Path) -> None:
    inner = [{"trees": 2}, {"breadth": 2, "semantics": "euler"}]
    shapes = [*SHAPES, *({"leaf_protocol": "art", "inner": {"art": one}} for one in inner)]
    assert check_changes(shapes, 25, 3, tmp_path) >= 200


def test_the_confidences_of_a_tree_multiply_as_in_a_record(tmp_path: Path) -> None:
    runs = [run for run in demos() if product(run[1], run[1].tree.nodes["0"])]
    ask = [{**told(record, events), "multiply": True} for _, record, events in runs]
    some = 0
    for (_, record, _), page in zip(runs, answers(ask, tmp_path), strict=True):
        figures = dict(page)
        for node in record.tree.nodes.values():
            if node.verdict and node.id in figures and node.verdict.confidence is not None:
                some += 1
                assert figures[node.id] == pytest.approx(node.verdict.confidence, abs=1e-12)
    assert some
