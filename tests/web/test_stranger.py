"""A protocol of which nothing here knows: watched, contested, compared and played on the page."""

from __future__ import annotations

import importlib
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from dialectree import report
from dialectree.protocols import plugins
from dialectree.records.folder import RunFolder
from tests import running
from tests.endpoint import LocalEndpoint
from tests.web.serving import acting
from tests.web.test_page import conduct

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.e2e
NAME = "wobblefex"
DECLARATION = '''
from pydantic import BaseModel
from dialectree import ProtocolSettings, Script, option

class Settings(ProtocolSettings):
    """The settings of a wobblefex."""

    bouts: int = option(2, ge=1, le=3, group="Own")
    """How often the two meet."""

class Quack(BaseModel):
    """What is quacked."""

    quack_of_the_bout: str

class Last(BaseModel):
    """What the goose says."""

    rationale: str
    answer: str

script = Script(Settings)
script.speaks("drake", Quack)
script.speaks("duck", Quack)
script.speaks("goose", Last, phase="honking", required=True, rules=True)
script.rounds(("drake", "duck"), times="bouts", then=("goose",))
protocol = script.protocol(
    name="wobblefex", title="The Wobblefex", summary="Quack.", source="nobody", outcome="answer"
)
'''
GRAPH = "from wobblefex import script\n\ngraph = script.compile('wobblefex')\n"
PROMPT = """---
version: 1
reply: REPLY
temperature: 0.7
source: nobody
---
# system
Quack.

# user
{{ question }}
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the package of a stranger."""
    (folder / NAME / "prompts").mkdir(parents=True)
    (folder / NAME / "__init__.py").write_text(DECLARATION)
    (folder / NAME / "graph.py").write_text(GRAPH)
    for role, reply in (("drake", "Quack"), ("duck", "Quack"), ("goose", "Last")):
        (folder / NAME / "prompts" / f"{role}.md").write_text(PROMPT.replace("REPLY", reply))
    monkeypatch.syspath_prepend(str(folder))
    protocol = importlib.import_module(NAME).protocol
    monkeypatch.setitem(plugins.load_declarations()[0], NAME, protocol)


def ended(page: Page) -> str:
    """Wait for the end of the run that is shown, and return its id."""
    page.locator(".moment", has_text="Ended").wait_for()
    return str(page.url).partition("run=")[2].partition("#")[0]


def test_a_strangers_protocol_is_watched_contested_compared_and_played(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "package", monkeypatch)
    runs = tmp_path / "runs"
    page, wrong = browser.new_page(), list[str]()
    page.set_default_timeout(10_000)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    monkeypatch.setenv("DIALECTREE_RUNS", str(runs))
    with LocalEndpoint(latency_ms=100.0) as endpoint, acting() as address:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        begun = running.begin(NAME, "Who swims?", runs, model="openai:any")
        first = begun.folder.run_id
        work = Thread(target=conduct, args=(begun,))
        work.start()
        page.goto(f"{address}?run={first}")
        page.get_by_text("Drake", exact=False).first.wait_for()
        assert ended(page) == first
        work.join()
        assert "The Wobblefex" in page.locator(".kicker").inner_text()
        assert page.locator(".facing .turn").count() == 4
        assert page.title() == "Who swims?"
        assert "Rationale" in page.locator(".turn", has_text="0/goose").inner_text()
        turn = page.locator(".turn", has_text="0/duck1")
        turn.get_by_text("Contest this").click()
        turn.get_by_role("textbox").fill("Nobody swims.")
        turn.get_by_role("button", name="Say this instead").click()
        page.get_by_role("button", name="Contest", exact=True).click()
        page.locator(f".contest [title={first!r}]").wait_for()
        second = ended(page)
        page.get_by_text("both beside each other").click()
        page.get_by_text("Nobody swims.").first.wait_for()
    folder = RunFolder(runs / second)
    file = tmp_path / "report.html"
    file.write_text(report.html(folder.record(), folder.calls(), folder.events(), folder.texts()))
    page.goto(file.as_uri())
    page.get_by_label("Play the events").click()
    page.get_by_text("3 of").wait_for()
    page.context.close()
    assert wrong == []
