"""A protocol says by which data it is evaluated, and gets the items as its input has them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dialectree.errors import InputError
from dialectree.evals import tasks
from dialectree.evals.dataset_items import Inputs, Item
from dialectree.protocols import plugins
from dialectree.protocols.protocol import Evaluation, load_protocols, method


def test_a_protocol_of_several_tasks_changes_none_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {task: (tasks.usual_method(task), tasks.baselines(task)) for task in tasks.TASKS}
    known = dict(load_protocols())
    wider = Evaluation(task="answer", also=("verify", "decide"))
    known["tsd"] = replace(known["tsd"], evaluation=wider, variants=())
    monkeypatch.setattr(plugins, "load_declarations", lambda: (known, {}))
    assert {task for task in tasks.TASKS if "tsd" in tasks.methods(task)} == {"answer", "verify", "decide"}
    after = {task: (tasks.usual_method(task), tasks.baselines(task)) for task in tasks.TASKS}
    assert all(after[task] == before[task] for task in ("verify", "decide", "compare"))


def test_a_claim_is_the_question_of_a_protocol_without_claims() -> None:
    answering, claim = method("tsd"), Item(id="q1", inputs=Inputs(claim="Cows eat grass."))
    taken = tasks.graph_input(answering, claim, None, answering.protocol.settings())
    assert taken["question"] == claim.inputs.claim


def test_a_protocol_that_declares_no_evaluation_is_named() -> None:
    declared = method("tsd")
    undeclared = replace(declared, protocol=replace(declared.protocol, evaluation=None))
    assert tasks.require_declared_evaluation(declared) is declared.protocol.evaluation
    with pytest.raises(InputError, match=r"^tsd: .* does not say how it is evaluated"):
        tasks.require_declared_evaluation(undeclared)
