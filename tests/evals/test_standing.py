"""What an evaluation has spent so far."""

from __future__ import annotations

from typing import Any

from dialectree.evals.standing import CallTotals
from dialectree.records import Call

a_call: Any = Call.model_construct


def test_a_call_counts_its_prompt_and_its_reply_and_an_unknown_price_stays_unknown() -> None:
    spent = CallTotals()
    spent.add(a_call(prompt_tokens=5, completion_tokens=3, cost=0.5))
    assert spent == CallTotals(calls=1, tokens=8, cost=0.5)
    spent.add(a_call(prompt_tokens=1, completion_tokens=1, cost=None))
    spent.add(a_call(prompt_tokens=1, completion_tokens=0, cost=0.5))
    assert spent == CallTotals(calls=3, tokens=11, cost=None)
