"""Two endpoints at one shown address: what is not shown of an address tells them apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialectree.context import ProtocolSettings, build
from dialectree.models.run import Run
from dialectree.runs import Journal
from tests.models.asking import RULE, at, question
from tests.models.scripted_endpoint import Answer, ScriptedEndpoint, says

pytestmark = pytest.mark.anyio


SECRETS = ("sesame", "deployment", "alpha", "beta")


def endpoint() -> ScriptedEndpoint:
    """Answers with the number of the request."""
    served = ScriptedEndpoint(choose=lambda _: numbered(len(served.bodies)))
    return served


def numbered(n: int) -> Answer:
    return says(RULE.model_copy(update={"answer": str(n)}).model_dump_json())


async def said(context: Any, run: Run | None = None, role: str = "judge") -> str:
    return (await question(context, run, role=role)).answer


def stored(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return "".join(path.read_bytes().decode(errors="replace") for path in files)


async def test_two_roles_at_one_shown_address_ask_a_deployment_each() -> None:
    async with endpoint() as served:
        spec, user = f"openai:any@{served.url}", served.url.replace("//", "//u:sesame@")
        roles = {"judge": f"{spec}?deployment=beta", "critic": f"openai:any@{user}"}
        context = build(
            ProtocolSettings, model=f"{spec}?deployment=alpha", roles=roles, cache=False
        )
        for role in ("explorer", "judge", "critic"):
            await said(context, role=role)
        queries = [path.partition("?")[2] for path in served.paths]
        assert queries == ["deployment=alpha", "deployment=beta", ""]
        assert served.headers[2]["Authorization"].startswith("Basic ")


async def test_a_journal_answers_the_deployment_that_wrote_it(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"

    async def asked(way: str) -> str:
        journal = Journal(path)
        try:
            return await said(at(way), Run("run", at(way), journal))
        finally:
            journal.close()

    async with endpoint() as served, endpoint() as moved:
        alpha = served.url.replace("//", "//u:sesame@") + "?deployment=alpha"
        assert [await asked(alpha), await asked(alpha)] == ["1", "1"]
        assert await asked(alpha.replace("alpha", "beta")) == "2"
        elsewhere = moved.url.replace("//", "//u:sesame@") + "?deployment=alpha"
        assert await asked(elsewhere) == "1" and not moved.bodies
    assert not [secret for secret in SECRETS if secret in path.read_text()]


async def test_a_contest_is_answered_from_a_run_with_a_query_though_it_names_none(
    tmp_path: Path,
) -> None:
    path = tmp_path / "calls.jsonl"

    async with endpoint() as served:
        context = at(f"{served.url}?deployment=alpha")
        journal = Journal(path)
        await said(context, Run("run", context, journal))
        journal.close()
        path.write_text(path.read_text().replace('"source"', '"run":"old","source"'))
        journal = Journal(path)
        assert await said(at(served.url), Run("new", at(served.url), journal)) == "1"
        journal.close()
