"""Packages of strangers cannot hurt: ours work, and what cannot be used is listed with a reason."""

from __future__ import annotations

import importlib
import json
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import dialectree
from dialectree.errors import InputError
from dialectree.interfaces.background import BackgroundDebates
from dialectree.interfaces.cli import program
from dialectree.interfaces.mcp.server import DebateServer
from dialectree.interfaces.server import protocols
from dialectree.protocols import plugins
from dialectree.protocols.protocol import load, load_protocols, method, methods, protocol
from tests.cli.commands import command
from tests.strangers import DAMAGED, REFUSED, STRANGERS, install
from tests.waiting import PATIENCE_S

FLAGGED = {f"dialectree.interfaces.cli.{name}" for name in ("audit", "evaluate", "gate")}
"""Modules that have flags for the settings of all protocols; a command imports them."""
OURS = {"art", "rsd", "tod", "tsd"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which strangers' packages are installed."""
    folder = tmp_path_factory.mktemp("strangers")
    install(folder)
    return folder


@pytest.fixture
def strangers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let this process find the packages of strangers."""

    def afresh() -> None:
        importlib.invalidate_caches()
        plugins.load_declarations.cache_clear()
        for name in [*sys.modules]:
            if name.partition(".")[0] in STRANGERS or name in FLAGGED:
                del sys.modules[name]

    monkeypatch.syspath_prepend(folder)
    afresh()
    yield folder
    monkeypatch.undo()
    afresh()


def test_what_takes_a_name_or_does_not_load_is_listed_and_ours_stay(strangers: Path) -> None:
    listed = command("protocols", "--json")
    assert listed.status == 0
    found = json.loads(listed.out)
    names = {one["name"] for one in found["protocols"]}
    assert names >= OURS and names & {*STRANGERS} == {*STRANGERS} - {*REFUSED}
    for package, why in REFUSED.items():
        (fault,) = (text for path, text in found["broken"].items() if package in path)
        assert why in fault and "\n" not in fault
    for path, why in DAMAGED.items():
        assert why in found["broken"][path]
    assert command("protocols").err.count("cannot be used: ") == len(REFUSED) + len(DAMAGED)
    assert [*load_protocols()][:4] == sorted(OURS)
    assert protocol("rsd").settings.declaration is protocol("rsd")
    with pytest.raises(InputError, match=r"exits: no such protocol .*SystemExit: 3"):
        protocol("exits")


def test_a_server_offers_what_can_be_used_and_lists_the_rest_with_the_reason(
    strangers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocols, "_make_protocol_list", protocols._make_protocol_list.__wrapped__)
    monkeypatch.setattr(protocols, "_make_protocol_entry", lambda declared: {"name": declared.name})
    served = TestClient(Starlette(routes=protocols.routes)).get("/protocols").json()
    offered = {one["name"] for one in served["protocols"]}
    assert offered >= OURS and offered.isdisjoint(STRANGERS)  # those that load have no graph
    assert all(why in served["broken"][path] for path, why in DAMAGED.items())


def test_ours_work_beside_them(strangers: Path) -> None:
    for name in OURS:
        assert method(name).graph() is load(protocol(name).graph)
    assert methods()["a_baseline.direct"].protocol.name == "a_baseline"
    assert methods()["direct"].protocol.ours
    assert command("--help").out.count("\n  answer ") == 1
    assert "a_baseline" not in command("demo", "--fast").err
    assert command("eval", "list").status == 0
    assert dialectree.answer.__name__ == "answer"
    served = DebateServer(BackgroundDebates(Path("runs"), owner=""), [*load_protocols().values()], 1.0)
    assert served.sdk


def test_a_server_file_leaves_out_what_does_not_load(strangers: Path) -> None:
    made = command("server-file", "--all")
    graphs = json.loads(made.out)["graphs"]
    sys.modules.pop("dialectree.interfaces.server.chat", None)  # its graphs are those of these protocols
    for entry in graphs.values():
        assert load(entry["path"]).get_graph()
    load_well = [name for name in load_protocols() if name not in STRANGERS]
    assert {*graphs} == {f"{name}_chat" for name in load_well} | {
        name for name, one in methods().items() if one.protocol.name in load_well
    }
    assert "no_graph.graph:graph is left out: ModuleNotFoundError: " in made.err


def test_modules_that_are_imported_at_once_leave_stdout_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = {name: threading.Event() for name in ("first", "second", "go", "end")}
    monkeypatch.setattr(threading, "steps", steps, raising=False)
    for name, until in (("first", "go"), ("second", "end")):
        code = f"steps['{name}'].set()\nsteps['{until}'].wait()\nprint('hello')\n"
        (tmp_path / f"meets_{name}.py").write_text(f"from threading import steps\n{code}")
    monkeypatch.syspath_prepend(tmp_path)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(plugins.import_safely, "meets_first")
        assert steps["first"].wait(PATIENCE_S)
        second = pool.submit(plugins.import_safely, "meets_second")
        assert steps["second"].wait(PATIENCE_S)
        steps["go"].set()
        first.result()
        steps["end"].set()
        second.result()
    print("result")
    out, err = capsys.readouterr()
    assert (out, err) == ("result\n", "hello\nhello\n")


def test_ctrl_c_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        name, value = "mine", "mine:protocol"

        def load(self) -> Any:
            raise KeyboardInterrupt

    monkeypatch.setattr(plugins, "entry_points", lambda group: [Entry()])
    with pytest.raises(KeyboardInterrupt):
        plugins._load_all()


def test_the_reserved_names_are_those_of_our_commands_and_tools() -> None:
    assert {*program.Program.table} == {*plugins.COMMANDS.split()}
    assert {*DebateServer(BackgroundDebates(Path("runs"), owner=""), [], 1.0)._tools} == {
        *plugins.TOOLS.split()
    }
