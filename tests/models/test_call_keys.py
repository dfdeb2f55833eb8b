"""The keys of calls: what makes two requests the same, in the journal and in the reply cache."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel

from dialectree.models.asking import Asking, form, messages, sampling
from dialectree.models.specs import resolve
from dialectree.protocols.settings import ProtocolSettings, build
from dialectree.records import Turn

HERE = "http://127.0.0.1:1/v1"


class Reply(BaseModel):
    """A reply."""

    winner: Literal["A", "B"]


def asking(
    url: str = HERE,
    model: str = "openai:any",
    system: str = "You judge.",
    user: str = "Who wins?",
    ids: dict[str, list[str]] | None = None,
    seed: int = 0,
    node: str = "0.1",
    role: str = "judge",
    speaker: str = "",
    take: int = 1,
    temperature: float = 0.3,
    max_tokens: int | None = None,
    top_p: float | None = None,
) -> Asking:
    context = build(ProtocolSettings, model=model, base_url=url, seed=seed)
    place = Turn(node=node, phase="debate", role=role, speaker=speaker, take=take)
    return Asking(
        context,
        place,
        "judge@1",
        resolve(context.model, context),
        messages(system, user),
        form(Reply, ids or {}),
        sampling(temperature, place.random_seed(context.seed), max_tokens, top_p),
    )


def test_a_key_is_the_same_in_every_process() -> None:
    assert asking().key == "79ce58fd0b22ebf43e1815a854553417"
    assert asking().cache_key == "6349fb840b6df39f61628eaed57ba788"


def test_an_address_makes_another_cache_and_what_it_hides_another_journal() -> None:
    here, there = asking(), asking("http://127.0.0.1:2/v1")
    assert here.key == there.key and here.cache_key != there.cache_key
    urls = (HERE, f"{HERE}?deployment=a", f"{HERE}?deployment=b", "http://u:p@127.0.0.1:1/v1")
    keys = [asking(url) for url in urls]
    assert len({each.key for each in keys}) == len({each.cache_key for each in keys}) == len(urls)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "openai:other"},
        {"system": "You judge well."},
        {"user": "Who loses?"},
        {"ids": {"winner": ["A"]}},
        {"seed": 1},
        {"node": "0.2"},
        {"role": "debater"},
        {"speaker": "B"},
        {"take": 2},
        {"temperature": 0.4},
        {"max_tokens": 9},
        {"top_p": 0.9},
    ],
    ids=str,
)
def test_another_prompt_schema_seed_model_or_decoding_is_another_call(
    change: dict[str, Any],
) -> None:
    one, other = asking(), asking(**change)
    assert one.key != other.key and one.cache_key != other.cache_key
    assert asking(**change).key == other.key
