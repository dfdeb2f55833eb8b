"""dialectree from Python: a question in, a record out."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from dialectree import loop
from dialectree.conduct import Started, Watch, again, leave_reports, require_judge, start
from dialectree.contests import Contesting, Wish, only_models_and_limits
from dialectree.contests import start as contesting
from dialectree.errors import DialectreeError, InputError
from dialectree.figures import NOT_DETERMINED, short
from dialectree.graphs import METHODS, Method, method
from dialectree.nodes.role_switching_debate.candidates import checked
from dialectree.own_settings import configured
from dialectree.persons import Ask
from dialectree.records import RunRecord
from dialectree.runs import RunFolder

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool

T = TypeVar("T")


async def aanswer(
    question: str,
    *,
    method_name: str = "tsd",
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> RunRecord:
    """Debate ``question`` and return the record; the same is left in a folder under ``runs``.

    ``settings`` are the fields of :class:`dialectree.Context`, such as ``model`` (a spec or a live
    LangChain chat model) or ``max_depth``; one that means nothing to the method is warned of.
    ``ask``, a plain or an asynchronous function, answers for the person when ``ask`` mode finds
    that something essential is missing. ``watch`` sees every event as it happens.

    Raises a DialectreeError: InputError for a wrong setting or an empty question, ModelUnavailable
    when there is no model to talk to, Halted when a budget is used up. Where a run had begun, the
    error's ``run_id`` is what :func:`aresume` goes on with.
    """
    if ask:
        settings["ask"] = True
    return await _debate(method(method_name, "tsd"), question, runs, ask, watch, settings)


def answer(question: str, **options: Any) -> RunRecord:
    """:func:`aanswer` for programs without an event loop (and for notebooks, which have one)."""
    return _run(aanswer(question, **options))


async def adecide(
    question: str,
    options: Sequence[str] = (),
    *,
    gold: str | None = None,
    method_name: str = "rsd",
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> RunRecord:
    """Let two debaters argue ``question``, with 2 to 26 ``options`` or openly; a judge decides.

    ``gold`` is the letter of the right option, for evaluations (``candidates`` oracle or
    balanced). With ``judge="me"`` the function ``ask``, plain or asynchronous, is given the
    transcript and returns a label. Everything else as in :func:`aanswer`.
    """
    chosen = method(method_name, "rsd")
    more = {"options": checked(options) or None, "gold": gold}
    return await _debate(chosen, question, runs, ask, watch, settings, **more)


def decide(question: str, options: Sequence[str] = (), **more: Any) -> RunRecord:
    """:func:`adecide` for programs without an event loop (and for notebooks, which have one)."""
    return _run(adecide(question, options, **more))


async def averify(
    claim: str,
    *,
    method_name: str = "art",
    runs: str | Path = "runs",
    watch: Watch | None = None,
    **settings: Any,
) -> RunRecord:
    """Grow a tree of arguments for and against ``claim``; the verdict's confidence is P(claim).

    Everything else as in :func:`aanswer`.
    """
    return await _debate(method(method_name, "art"), claim, runs, None, watch, settings)


def verify(claim: str, **options: Any) -> RunRecord:
    """:func:`averify` for programs without an event loop (and for notebooks, which have one)."""
    return _run(averify(claim, **options))


async def acompare(
    paper_a: str | Path | Mapping[str, Any],
    paper_b: str | Path | Mapping[str, Any],
    topic: str,
    *,
    method_name: str = "tod",
    runs: str | Path = "runs",
    watch: Watch | None = None,
    **settings: Any,
) -> RunRecord:
    """Let two papers debate ``topic``; the verdict is a summary of what they share and do not.

    A paper is a file (PDF, .txt, .md, .tex, .json), an arXiv id, or a mapping with ``title``,
    ``abstract`` and ``body`` (or ``introduction``). The record's tree holds every debate, and its
    ``segments`` what was retrieved. Everything else as in :func:`aanswer`.
    """
    given = {"a": paper_a, "b": paper_b}
    papers = [await asyncio.to_thread(_paper, letter, paper) for letter, paper in given.items()]
    chosen = method(method_name, "tod")
    return await _debate(chosen, topic, runs, None, watch, settings, papers=papers)


def compare(
    paper_a: str | Path | Mapping[str, Any],
    paper_b: str | Path | Mapping[str, Any],
    topic: str,
    **options: Any,
) -> RunRecord:
    """:func:`acompare` for programs without an event loop (and for notebooks, which have one)."""
    return _run(acompare(paper_a, paper_b, topic, **options))


def _paper(letter: str, paper: str | Path | Mapping[str, Any]) -> Mapping[str, Any]:
    from dialectree.nodes.tree_of_debate.papers import encodable, given
    from dialectree.retrieval.papers import read

    if isinstance(paper, Mapping):
        return encodable(paper)
    if not isinstance(paper, str | PathLike):
        raise InputError(
            f"paper {letter}: give a file, an arXiv id or a mapping with title, abstract and body"
        )
    return given(read(paper))


async def aresume(
    run: str | Path | RunRecord,
    *,
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> RunRecord:
    """Go on with a run that was broken off; finished calls are not made again.

    ``run`` is as in :func:`acontest`. ``settings`` are models and limits; budgets count anew from
    here, and a live model has to be given again. A finished run stays as it is.
    """
    only_models_and_limits(settings, "a run is resumed")
    begun = again(_folder(run, runs), settings)
    return await _conduct(begun, ask, watch)


def resume(run: str | Path | RunRecord, **options: Any) -> RunRecord:
    """:func:`aresume` for programs without an event loop (and for notebooks, which have one)."""
    return _run(aresume(run, **options))


async def acontest(
    run: str | Path | RunRecord,
    wishes: Iterable[Wish],
    *,
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> RunRecord:
    """Change something in a run and return the record of what comes of it, a new run.

    ``run`` is the record of a run that lies in ``runs``, its id, or the path of its folder.
    ``wishes`` are of ``dialectree.contests``: :class:`Replace`, :class:`Drop`, :class:`Rule` and
    :class:`Restore`; where arguments were weighed :class:`Set`, :class:`Drop`, :class:`Flip`,
    :class:`Void` and :class:`Restore`, and for a run of ART :class:`Add`. ``record.contest`` says
    what they moved. ``settings`` are models and limits for the calls that are made anew; a live
    model has to be given again. Raises InputError for a wish that the run cannot fulfil.
    """
    folder = _folder(run, runs)
    begun = contesting(folder, wishes, Path(runs), settings, person=ask is not None)
    return await _conduct(begun, ask, watch)


def contest(run: str | Path | RunRecord, wishes: Iterable[Wish], **options: Any) -> RunRecord:
    """:func:`acontest` for programs without an event loop (and for notebooks, which have one)."""
    return _run(acontest(run, wishes, **options))


def _folder(run: str | Path | RunRecord, runs: str | Path) -> RunFolder:
    """The folder of a run that is named by its record, its id or its path."""
    return RunFolder.find(run.run_id if isinstance(run, RunRecord) else str(run), Path(runs))


async def _debate(
    chosen: Method,
    question: str,
    runs: str | Path,
    ask: Ask | None,
    watch: Watch | None,
    settings: Mapping[str, Any],
    **more: Any,
) -> RunRecord:
    context = configured(chosen, settings, _warn)
    require_judge(chosen, context, ask)
    run = start(chosen, question, context, Path(runs), **more)
    return await _conduct(run, ask, watch)


def _warn(said: str) -> None:
    """Warn where ``configured`` was called."""
    warnings.warn(said, stacklevel=3)


async def _conduct(run: Started | Contesting, ask: Ask | None, watch: Watch | None) -> RunRecord:
    """Conduct ``run`` to its end, however it ends, and leave its reports beside the record.

    A verdict is not lost because a page cannot be written: that is a warning.
    """
    try:
        return await run.conduct(ask=ask, watch=watch)
    except DialectreeError as error:
        error.run_id = run.record.run_id
        raise
    finally:
        try:
            await asyncio.to_thread(leave_reports, run.folder, run.record)
        except DialectreeError as error:
            warnings.warn(str(error), stacklevel=2)


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` to its end, in a thread of its own where a loop is already running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return loop.run(work)
    return loop.run_beside(work)


_Question = Annotated[str, "One question, in full"]
_Options = Annotated[
    list[str] | None, "The answers to choose from, two or more; none where the question is open"
]
_Claim = Annotated[str, "A statement that is true or false, not a question"]
_Paper = Annotated[str, "A file (PDF, .txt, .md, .tex, .json) or an arXiv id such as 2502.14767"]
_Topic = Annotated[str, "What the papers are compared on"]


def as_tool(name: str = "tsd", *, runs: str | Path = "runs", **settings: Any) -> StructuredTool:
    """A LangChain tool that debates a question (or a claim) by the method ``name``.

    It returns the verdict as text, with the confidence and the run's id. The methods of RSD take
    ``options``, too. Settings that cannot be are refused here; what goes wrong with a call is told
    to the agent's model in one line, so that it can call again.
    """
    from langchain_core.tools import StructuredTool, ToolException

    chosen: Method = method(name)
    require_judge(chosen, configured(chosen, settings, _warn), None)

    async def told(debate: Coroutine[Any, Any, RunRecord]) -> str:
        try:
            return _spoken(await debate)
        except DialectreeError as error:
            raise ToolException(str(error)) from error

    async def decide(question: _Question, options: _Options = None) -> str:
        more = {"options": options or None}
        return await told(_debate(chosen, question, runs, None, None, settings, **more))

    async def debate(question: _Question) -> str:
        return await decide(question)

    async def verify(claim: _Claim) -> str:
        return await decide(claim)

    async def compare(paper_a: _Paper, paper_b: _Paper, topic: _Topic) -> str:
        given = {"method_name": chosen.name, "runs": runs, **settings}
        return await told(acompare(paper_a, paper_b, topic, **given))

    calls: dict[str, Callable[..., Coroutine[Any, Any, str]]]
    calls = {"tsd": debate, "rsd": decide, "art": verify, "tod": compare}
    call = calls[chosen.protocol]

    def wait(**given: Any) -> str:
        return _run(call(**given))

    tool: StructuredTool = StructuredTool.from_function(
        coroutine=call,
        name=f"dialectree_{chosen.name}",
        description=f"{_USES[chosen.protocol]} Slow and thorough: use it where a wrong answer "
        "would cost more than a minute.",
        handle_tool_error=True,
    )
    tool.func = wait
    return tool


_USES = {
    "tsd": "Answers a question by a structured debate between language models.",
    "rsd": "Decides a question, between options or openly, by a debate with switched sides.",
    "art": "Verifies a claim by weighing arguments for and against it.",
    "tod": "Compares two papers (files or arXiv ids) on a topic by a debate between them.",
}


def _spoken(record: RunRecord) -> str:
    verdict = record.verdict
    if verdict is None or verdict.answer is None:
        return f"The debate reached no answer (run {record.run_id})."
    known = verdict.confidence is not None
    sure = short(verdict.confidence, 2) if known else NOT_DETERMINED
    named = "P(claim)" if verdict.confidence_source == "P(claim)" else "Confidence"
    label = " Demonstration model: no better than chance." if record.demonstration else ""
    degraded = " Some parts failed; the record says which." if record.status == "degraded" else ""
    return (
        f"{verdict.answer}\n{verdict.explanation or ''}\n"
        f"{named}: {sure}. Run: {record.run_id}.{degraded}{label}"
    )


__all__ = [
    "METHODS",
    "aanswer",
    "acompare",
    "acontest",
    "adecide",
    "answer",
    "aresume",
    "as_tool",
    "averify",
    "compare",
    "contest",
    "decide",
    "resume",
    "verify",
]
