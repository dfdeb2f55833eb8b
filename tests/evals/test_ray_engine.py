"""Questions asked by workers of a cluster, which a stand-in for Ray begins in this process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dialectree.errors import BudgetReached, Halted
from dialectree.evals import ray_engine
from dialectree.evals.question_runs import Asker
from dialectree.evals.standing import Spending
from tests.evals.evaluating import by_item, choices, evaluate, model, opens, plan, results, row


class TaskError(Exception):
    """What Ray raises where a method raised ``cause``."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.cause = cause


class ActorError(Exception):
    """What Ray raises where a worker was lost for good."""


class Actor:
    """An object whose methods are called by ``actor.method.remote(...)``."""

    def __init__(self, kind: type[Any], given: tuple[Any, ...]) -> None:
        self.kind, self.itself, self.alive = kind, kind(*given), True

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(remote=lambda *given: self._call(name, given))

    def _call(self, name: str, given: tuple[Any, ...]) -> asyncio.Future[Any]:
        async def called() -> Any:
            if not self.alive:
                raise ActorError("out of memory")
            try:
                reply = getattr(self.itself, name)(*given)
                return await reply if asyncio.iscoroutine(reply) else reply
            except ActorError:
                raise
            except Exception as error:
                raise TaskError(error) from error

        return asyncio.ensure_future(called())


class Cluster:
    """Stands for the module ``ray``: a cluster of so many CPUs."""

    exceptions = SimpleNamespace(RayTaskError=TaskError, RayActorError=ActorError)

    def __init__(self, cpus: float) -> None:
        self.cpus, self.actors, self.running = cpus, list[Actor](), False
        self.asked = list[tuple[type[Any], dict[str, Any]]]()
        """What each actor asks of the cluster."""

    def is_initialized(self) -> bool:
        return self.running

    def init(self, **_: Any) -> None:
        self.running = True

    def shutdown(self) -> None:
        self.running = False

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self.cpus}

    def remote(self, kind: type[Any]) -> Any:
        def options(**asked: Any) -> SimpleNamespace:
            def begin(*given: Any) -> Actor:
                self.asked.append((kind, asked))
                self.actors.append(Actor(kind, given))
                return self.actors[-1]

            return SimpleNamespace(remote=begin)

        return SimpleNamespace(options=options)

    def kill(self, actor: Actor) -> None:
        actor.alive = False

    def workers(self) -> list[Actor]:
        return [actor for actor in self.actors if actor.kind is ray_engine.Worker]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], Cluster]:
    monkeypatch.setattr(ray_engine, "find_spec", lambda name: name)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "")  # which the engine sets

    def of(cpus: float) -> Cluster:
        made = Cluster(cpus)
        monkeypatch.setitem(sys.modules, "ray", made)
        return made

    return of


def test_workers_find_what_one_process_finds(cluster: Callable[[float], Cluster]) -> None:
    rows = (row("basic"), row("self_consistency", samples=2))
    evaluate(plan(choices(4), model(), *rows), out="here")
    ray = cluster(2)
    standing = evaluate(plan(choices(4), model(), *rows, engine="ray"))

    def told(out: str) -> dict[tuple[str, str], Any]:
        return {key: (one.status, one.verdict, one.scores) for key, one in by_item(out).items()}

    assert told("out") == told("here")
    assert standing.spent.calls == sum(one.usage.calls for one in results()) > 0
    assert len(ray.workers()) == 2
    assert not ray.running and not any(actor.alive for actor in ray.actors)


def test_a_cluster_that_runs_already_goes_on(cluster: Callable[[float], Cluster]) -> None:
    (ray := cluster(1)).running = True
    evaluate(plan(choices(1), model(), engine="ray"))
    assert ray.running


def test_each_worker_takes_a_cpu_so_that_they_spread_and_the_budget_takes_none(
    cluster: Callable[[float], Cluster],
) -> None:
    ray = cluster(2)
    evaluate(plan(choices(1), model(), engine="ray"))
    taken = [asked.get("num_cpus") for kind, asked in ray.asked if kind is ray_engine.Worker]
    assert taken == [1, 1]
    assert [asked for kind, asked in ray.asked if kind is Spending] == [{"num_cpus": 0}]


def test_there_are_no_more_workers_than_slots_and_each_gets_its_part(
    cluster: Callable[[float], Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int, int | None]] = []
    ask = Asker.ask

    async def noted(self: Asker, ready: Any, item: Any) -> Any:
        assert self.judge is not None
        assert self.runs.is_absolute()  # a worker may start in another folder
        pace = ready.context.requests_per_minute
        asked.append((ready.context.concurrency, self.judge.concurrency, pace))
        return await ask(self, ready, item)

    monkeypatch.setattr(Asker, "ask", noted)
    given: dict[str, Any] = {"requests_per_minute": 600, "concurrency": 8}
    for cpus, workers in ((3.0, 3), (64.0, 8)):
        ray = cluster(cpus)
        out = f"out of {workers}"
        planned = plan(opens(3), model(), row("single_shot"), judge=model(), engine="ray", **given)
        evaluate(planned, out=out)
        assert len(ray.workers()) == workers
        assert {*asked} == {(8 // workers, 8 // workers, 600 / workers)}
        asked.clear()


def test_all_workers_share_one_budget(cluster: Callable[[float], Cluster]) -> None:
    cluster(2)
    speaker = model()
    with pytest.raises(BudgetReached):
        evaluate(plan(choices(4), speaker, engine="ray", concurrency=2), max_calls=3)
    assert len(speaker.calls) == 3
    speaker = model()
    evaluate(plan(choices(4), speaker, engine="ray", concurrency=2))
    assert len(by_item()) == 4
    assert len(speaker.calls) == sum(one.usage.calls for one in results()) - 3


def test_a_worker_that_is_lost_too_often_ends_it_and_the_same_again_goes_on(
    cluster: Callable[[float], Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster(1)
    ask = ray_engine.Worker.ask

    async def lost(self: ray_engine.Worker, ready: Any, item: Any) -> Any:
        if item.id == "q1":
            return await ask(self, ready, item)
        raise ActorError("out of memory")

    monkeypatch.setattr(ray_engine.Worker, "ask", lost)
    with pytest.raises(Halted, match="a worker was lost 6 times"):
        evaluate(plan(choices(3), model(), engine="ray", concurrency=1))
    monkeypatch.setattr(ray_engine.Worker, "ask", ask)
    evaluate(plan(choices(3), model(), engine="ray", concurrency=1))
    assert len(by_item()) == 3 and Path("out/evaluation.json").exists()
