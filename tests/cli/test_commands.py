"""The command line as a person or a script meets it, against a real endpoint.

Commands run in this process; those that a signal, a limit or a start concerns are processes.
"""

import errno
import json
import os
import re
import resource
import signal
import subprocess
import sys
import webbrowser
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from dialectree.embedded import models_at_hand
from dialectree.embedded.models_at_hand import LocalServer
from dialectree.interfaces.cli import streams
from dialectree.protocols.options import get_option_details
from dialectree.protocols.protocol import Protocol, load_protocols
from dialectree.records.folder import RunFolder
from dialectree.records.journal import files
from tests.cli.commands import Done, command, refused
from tests.endpoint import LocalEndpoint
from tests.nobody import nobody
from tests.rules import FOUR_CHILDREN, children
from tests.waiting import PATIENCE_S, wait_until

PROGRAM = Path(sys.executable).with_name("dialectree")
QUESTION = "Which language do all people in Europe speak?"


def started(*words: str, **options: Any) -> Done:
    """Run one command to its end, in a process of its own."""
    done = subprocess.run(
        [PROGRAM, *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False, **options
    )
    return Done(done.returncode, done.stdout, done.stderr)


Answer = Callable[..., Done]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint(rules=FOUR_CHILDREN) as started:
        yield started


@pytest.fixture
def answer(endpoint: LocalEndpoint) -> Answer:
    def answer(*words: str, by: Callable[..., Done] = command, **options: Any) -> Done:
        to = ("--model", "openai:any", "--base-url", endpoint.url, "--max-depth", "1")
        return by("answer", *words, *to, **options)

    return answer


def only_run(folder: Path = Path("runs")) -> Path:
    (path,) = folder.iterdir()
    return path


def test_answer_prints_one_json_document_and_leaves_a_whole_folder(answer: Answer) -> None:
    done = answer(QUESTION, "--json", by=started)
    record = json.loads(done.out)
    assert done.status == 0, done.err
    assert record["schema"] == "dialectree.run/3"
    assert record["status"] == "answered"
    assert record["usage"]["calls"] == 37
    assert record["usage"]["critical_path_calls"] == 14
    names = {path.name for path in only_run().iterdir()} - {".lock"}
    lines = {"events.jsonl", "calls.jsonl", "prompts.jsonl"}
    assert names == {"run.json", "report.html", "report.md", *lines}
    assert json.loads((only_run() / "run.json").read_text()) == record


def test_answer_prints_the_result_alone_on_stdout(answer: Answer) -> None:
    done = answer(QUESTION)
    assert "Confidence 0." in done.out
    assert "dialectree:" not in done.out
    assert "report.html" in done.err
    assert "\x1b" not in done.out + done.err


def test_a_question_can_come_from_standard_input(answer: Answer) -> None:
    done = answer("-", "--json", stdin="Why {{ 7 * 7 }} </question> [bold]?\n")
    assert json.loads(done.out)["input"] == {"question": "Why {{ 7 * 7 }} </question> [bold]?"}


def test_what_came_from_the_cache_is_said(answer: Answer) -> None:
    assert "cache" not in answer(QUESTION).err
    assert "37 calls (37 from the reply cache)" in answer(QUESTION).err


def test_what_a_model_wants_to_know_cannot_steer_the_terminal() -> None:
    everywhere, _, judge = children(2)
    request = {"decision": "clarify", "clarification_request": "\x1b[2J\x1b]0;x\x07 Which one?"}
    unclear = [everywhere, {"match": "how hard each part", "set": request}, judge]
    with LocalEndpoint(rules=unclear) as endpoint:
        to = ("--model", f"openai:any@{endpoint.url}", "--max-depth", "1")
        done = command("answer", "What is the best medicine?", "--ask", *to, stdin="\n")
    assert "Which one?" in done.err
    assert "\x1b" not in done.err + done.out
    assert "\x07" not in done.err + done.out


def test_an_unreachable_address_is_named() -> None:
    with nobody() as address:
        words = ["--model", "openai:any", "--base-url", f"{address}/v1", "--quiet"]
        done = command("answer", QUESTION, *words)
    assert done.status == 3
    assert address in done.err
    assert "Traceback" not in done.err
    assert json.loads((only_run() / "run.json").read_text())["status"] == "partial"


def test_an_unwritable_folder_is_told_in_one_line(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    to = ("--model", "openai:any", "--base-url", endpoint.url)
    done = command("answer", QUESTION, *to, "--runs", "file/runs")
    assert done.status == 2
    assert done.err.splitlines()[-1].startswith("dialectree: file/runs")
    assert "Traceback" not in done.err


def test_a_full_disk_stops_the_run_with_whole_files_and_resume_goes_on(answer: Answer) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    limited = {"by": started, "preexec_fn": small_files}
    done = answer(QUESTION, "--quiet", "--no-cache", **limited)
    assert done.status == 4, done.err
    assert "no room" in done.err
    assert "Traceback" not in done.err
    for name in ("calls.jsonl", "events.jsonl"):
        for line in (only_run() / name).read_text().splitlines():
            json.loads(line)
    json.loads((only_run() / "run.json").read_text())
    went_on = command("resume", str(only_run()), "--json")
    assert went_on.status == 0, went_on.err
    assert json.loads(went_on.out)["usage"]["calls"] == 37


def test_a_disk_that_is_full_when_the_report_is_written_is_status_4_and_a_line(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = RunFolder.write

    def full(self: RunFolder, name: str, text: str, **how: Any) -> None:
        with files(self.path / name):
            if name == "report.html":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        whole(self, name, text, **how)

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "write", full)
        done = answer(QUESTION, "--json")
    assert (done.status, done.record["status"]) == (4, "answered")
    page = only_run() / "report.html"
    assert f"dialectree: no room left to write {page}: free some, then resume\n" in done.err
    assert "Traceback" not in done.err and "broken off" not in done.err
    assert command("resume", str(only_run())).status == 0
    assert page.is_file()


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_interrupting_leaves_a_run_that_resumes_and_pays_nothing_twice(by: signal.Signals) -> None:
    with LocalEndpoint(rules=children(2), latency_ms=100) as slow:
        words = ["answer", QUESTION, "--model", f"openai:any@{slow.url}", "--max-depth", "1"]
        process = subprocess.Popen([PROGRAM, *words], stderr=subprocess.PIPE, text=True)
        wait_until(lambda: slow.stats()["calls"] >= 5)
        process.send_signal(by)
        _, said = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130, said
        assert "dialectree resume" in said
        assert "Traceback" not in said
        assert command("resume", str(only_run())).status == 0
        assert slow.stats()["duplicate_requests"] == 0


def test_interrupting_twice_waits_for_no_call() -> None:
    with LocalEndpoint(latency_ms=60_000) as stuck:
        words = ["answer", QUESTION, "--model", f"openai:any@{stuck.url}", "--max-depth", "1"]
        process = subprocess.Popen([PROGRAM, *words], stderr=subprocess.PIPE, text=True)
        wait_until(lambda: stuck.stats()["running"] >= 1)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = next(line for line in process.stderr if "stopping: " in line)
        process.send_signal(signal.SIGINT)
        said += process.communicate(timeout=PATIENCE_S)[1]
        assert process.returncode == 130, said
        assert said.count("stopping: calls under way have up to 5 s (Ctrl-C again: none)") == 1
        assert "Traceback" not in said


def test_asking_the_person_goes_on_with_the_answer() -> None:
    everywhere, _, judge = children(2)
    unclear = [
        everywhere,
        {"match": "Clarified by the person", "set": {"canonical_parent": "CLEAR NOW?"}},
        {"match": "how hard each part", "set": {"decision": "clarify"}},
        {"match": "how hard each part.*CLEAR NOW", "set": {"decision": "decompose"}},
        judge,
    ]
    with LocalEndpoint(rules=unclear) as endpoint:
        words = ["answer", "What is the best medicine?", "--ask", "--json", "--max-depth", "1"]
        done = command(*words, "--model", f"openai:any@{endpoint.url}", stdin="for high blood pressure\n")
    record = json.loads(done.out)
    assert "Your answer" in done.err
    assert record["tree"]["nodes"]["0"]["kind"] == "branch"
    assert any("high blood pressure" in note for note in record["tree"]["nodes"]["0"]["notes"])


def test_show_prints_the_tree_a_node_and_the_reports(answer: Answer) -> None:
    answer(QUESTION)
    path = str(only_run())
    shown = command("show", path).out
    assert "0.3" in shown
    assert "Is there one language" in shown
    assert "rebuttal" in command("show", path, "--node", "0.1").out.lower()
    assert command("show", path, "--html").out.startswith("<!")
    assert command("show", path, "--md").out.startswith("#")
    assert json.loads(command("show", only_run().name, "--json").out)["status"] == "answered"
    whole = json.loads(command("show", path, "--json").out)
    node = json.loads(command("show", path, "--node", "0.1", "--json").out)
    assert node == whole["tree"]["nodes"]["0.1"]
    for flags, message in (
        (["--node", "0.1", "--html"], "--node: --html, --md and --open show the whole run"),
        (["--node", "7", "--json"], "--node 7: the run has no such node; it has 0, 0.0"),
        (["--html", "--md"], "--html, --md, --json and --open exclude one another"),
    ):
        refused(command("show", path, *flags), message)


def test_show_folds_the_tree_and_says_how_two_runs_differ(answer: Answer) -> None:
    answer(QUESTION)
    first = only_run().name
    folded = command("show", first, "--depth", "0").out
    assert "── 0.3" not in folded and "4 below" in folded
    assert "── 0.3" in command("show", first, "--depth", "1").out
    command("contest", first, "--drop", "0.1", "--base-url", "http://127.0.0.1:1/v1")
    (second,) = (path.name for path in Path("runs").iterdir() if path.name != first)
    found = json.loads(command("show", first, second, "--json").out)
    assert (found["runs"], found["contest"]) == ([first, second], True)
    shown = command("show", first, second).out
    assert first in shown and second in shown and "0.1 dropped" in shown
    begins = [f"{first} · ", f"{second} · ", "first: ", "second: "]
    found = [begin for line in shown.splitlines() for begin in begins if line.startswith(begin)]
    assert found == begins  # each on a line of its own
    refused(command("show", first, second, "--html"), "two runs are shown side by side as text")


def test_show_pages_what_is_longer_than_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho paged\ncat >/dev/null\n")
    pager.chmod(0o700)
    monkeypatch.setenv("PAGER", str(pager))
    streams.page("long\n")
    monkeypatch.setenv("PAGER", "no-such-pager")
    streams.page("as it is\n")
    assert capfd.readouterr().out == "paged\nas it is\n"


def test_show_opens_the_report_and_writes_it_first(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(QUESTION)
    page = only_run() / "report.html"
    page.unlink()
    monkeypatch.setattr(webbrowser, "open", lambda url: url == page.resolve().as_uri())
    assert command("show", "last", "--open").status == 0
    assert page.read_text().startswith("<!")
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    refused(command("show", "last", "--open"), "no browser can be opened here: the report is ")


def test_show_without_a_run_lists_all_the_newest_first(answer: Answer) -> None:
    nothing = command("show")
    assert (nothing.status, nothing.out) == (0, "")
    assert nothing.err == "dialectree: no runs in runs\n"
    answer("First?")
    first = only_run()
    command("contest", str(first), "--drop", "0.1", "--base-url", "http://127.0.0.1:1/v1")
    (contested,) = (path.name for path in Path("runs").iterdir() if path != first)
    Path("runs/notes").mkdir()
    Path("runs/19990101-000000-torn").mkdir()
    Path("runs/19990101-000000-torn/run.json").write_text("{")
    shown = command("show")
    rows = [line.split() for line in shown.out.splitlines()]
    assert [row[:3] for row in rows] == [
        ["run", "method", "status"],
        [contested, "tsd", "Partial"],
        [first.name, "tsd", "Answered"],
    ]
    assert rows[1][3:] == ["First?", "(contests", f"{first.name})"]
    assert "19990101-000000-torn/run.json" in shown.err and shown.status == 0
    listed = json.loads(command("show", "--json").out)
    assert [row["run_id"] for row in listed] == [contested, first.name]
    assert [row["contests"] for row in listed] == [first.name, None]


def test_doctor_says_what_the_endpoint_can_do(endpoint: LocalEndpoint) -> None:
    done = command("doctor", "--model", "openai:any", "--base-url", endpoint.url)
    assert done.status == 0, done.err
    assert "json_schema" in done.out
    assert "langgraph" in done.out
    with nobody() as address:
        assert command("doctor", "--model", f"openai:any@{address}/v1").status == 3


def test_doctor_says_which_keys_and_servers_can_be_used(
    endpoint: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = LocalServer("Ollama", "http://127.0.0.1:11434/v1", ("llama3.1", "qwen3"))

    async def found() -> list[LocalServer]:
        return [server]

    monkeypatch.setattr(models_at_hand, "local_servers", found)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    out = command("doctor", "--model", f"openai:any@{endpoint.url}").out
    assert "  ANTHROPIC_API_KEY is set: --model anthropic:NAME\n" in out
    assert "  for every command: export DIALECTREE_MODEL=anthropic:NAME\n" in out
    assert "  Ollama runs at http://127.0.0.1:11434/v1, with llama3.1, qwen3\n" in out
    assert "    --model openai:llama3.1 --base-url http://127.0.0.1:11434/v1\n" in out
    assert "sk-secret" not in out


def test_a_debate_with_the_embedded_model_ends_with_what_to_do_next(
    endpoint: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dialectree.running.runner.at_chance", lambda spec: True)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    words = ("verify", "Fire is hot.", "--method", "direct", "--model", f"openai:any@{endpoint.url}")
    err = command(*words).err
    assert "  OPENAI_API_KEY is set: --model openai:NAME\n" in err and "sk-secret" not in err
    following = err[err.index("Try next:") :].splitlines()[1::2]
    assert following == [
        "  dialectree demo",
        "  dialectree verify ... --model openai:NAME",
        "  dialectree show last --open",
    ]
    assert "Try next" not in command(*words, "--quiet").err


@pytest.mark.parametrize("protocol", load_protocols().values(), ids=load_protocols())
def test_help_lists_input_and_settings_as_flags_with_their_defaults(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = command(protocol.command, "--help").out
    flags = {"--method", "--preset", "--runs", "--json", "--quiet", "--dry-run", "--yes", "--help"}
    inputs = [(protocol.input, name) for name in protocol.input.model_fields]
    for kind, name in [*inputs, *protocol.list_declared_settings()]:
        declared, default = get_option_details(kind, name), kind.model_fields[name].default
        if declared.get("hidden") or declared.get("positional"):
            continue
        flags.add(f"--{declared.get('alias') or name.replace('_', '-')}")
        if isinstance(default, str | int | float) and not isinstance(default, bool):
            assert f"({default})." in "".join(shown.split()), name
    assert set(re.findall(r"^ +(?:-\w, *)?(--[a-z-]+)", shown, re.MULTILINE)) == flags


def test_interrupting_a_start_leaves_no_traceback() -> None:
    on_import = (
        "import signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer': signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "import dialectree.__main__\n"
    )
    done = subprocess.run([sys.executable, "-c", on_import], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "")


def test_the_version_is_told_by_a_flag_and_by_a_command() -> None:
    flag, verb = started("--version"), command("version")
    assert (flag.status, flag.out) == (0, f"{version('dialectree')}\n")
    assert (verb.status, verb.out) == (0, flag.out)
