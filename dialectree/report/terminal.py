"""Show a run in the terminal: its Markdown as rich prints it, and its tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.markdown import Markdown
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.theme import Theme
from rich.tree import Tree

from dialectree.records import Node, RunRecord, RunSummary
from dialectree.report import arguments, markdown_text, view
from dialectree.report.pages import macros
from dialectree.text import clean, label, line

_LOOK = Theme(
    {
        "markdown.em": "dim",
        "markdown.h2": "bold cyan",
        "markdown.h3": "bold cyan",
        "markdown.h4": "bold",
        "markdown.h5": "dim",
        "markdown.block_quote": "none",
        "markdown.list": "none",
        "markdown.table.border": "dim",
        "markdown.table.header": "none",
    }
)


class _Page:
    """Prints parts of a report in one style."""

    def __init__(self, *parts: RenderableType) -> None:
        self._parts = Group(*parts)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        with console.use_theme(_LOOK):
            yield from console.render(self._parts, options)


def tree(record: RunRecord, depth: int | None = None) -> RenderableType:
    """Return the whole record: the result, the tree, the sources and the totals.

    Args:
        depth: The levels of the tree below its root that are shown; None shows all.
    """
    part = macros(record)
    ending = [_markdown(part(name)) for name in ("sources", "ending")]
    trees: list[RenderableType] = [Text(), *_trees(record, part, depth), Text()]
    return _Page(result(record, whole=True), Text(), _markdown(part("details")), *trees, *ending)


def result(record: RunRecord, *, whole: bool = False) -> RenderableType:
    """Return the question, the verdict, its grounds, and the changes of a contest.

    ``whole`` adds how the figures were computed.
    """
    part = macros(record)
    return _Page(_markdown(part("result", whole)))


def transcript(node: Node, record: RunRecord) -> RenderableType:
    """Return the whole transcript of one node in order, below its outcome."""
    part = macros(record)
    return _Page(_markdown(part("node", node)))


def link(file: Path) -> Text:
    """Return the path of ``file`` as a link to it, in terminals that know links."""
    return Text(clean(str(file)), Style(link=file.resolve().as_uri()))


def paths(folder: Path) -> RenderableType:
    """Return the paths of a run's record and report, as links in terminals that know links."""
    files = [file for file in (folder / "run.json", folder / "report.html") if file.is_file()]
    return Text("\n").join([Text(), *map(link, files)])


def overview(
    summaries: Sequence[RunSummary], runs: Path | None = None, *, expand: bool = True
) -> RenderableType:
    """Return one line for each run: its id, its method, its status and its question.

    An id is never cut, and the question is shortened first. An id is a link to the run's report in
    the folder ``runs``. ``expand`` fills the width of a terminal.
    """
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", expand=expand)
    longest = max((cell_len(line(summary.run_id, 80)) for summary in summaries), default=0)
    grid.add_column("run", no_wrap=True, min_width=longest)
    for title in ("method", "status"):
        grid.add_column(title, no_wrap=True, overflow="ellipsis")
    grid.add_column("question", no_wrap=True, overflow="ellipsis", ratio=1)
    for summary in summaries:
        kind = "illustration: " if summary.illustration else ""
        question = Text.assemble((kind, "dim"), line(summary.question, 200))
        if summary.contests is not None:
            question.append(f" (contests {line(summary.contests, 80)})", "dim")
        status = Text(label(summary.status), "" if summary.status == "answered" else "yellow")
        run_id, page = Text(line(summary.run_id, 80)), (runs or Path()) / summary.run_id
        if (page := page / "report.html").is_file():
            run_id.stylize(link(page).style)
        grid.add_row(run_id, Text(line(summary.method, 80)), status, question)
    return grid


def _markdown(text: str) -> Markdown:
    """Parse a part of the report; ``<br>`` in a table cell becomes a line break."""
    bare = text.replace(markdown_text.BREAKER, "")  # rich makes no links of addresses
    page = Markdown(bare, justify="default")  # any other value pads each line with spaces
    for token in page.parsed:
        for part in token.children or []:
            if (part.type, part.content) == ("html_inline", "<br>"):
                part.type = "hardbreak"
    return page


def _trees(record: RunRecord, part: Callable[..., str], depth: int | None) -> list[Tree]:
    """Return the tree, then the nodes without a parent. A part below ``depth`` shows only its size."""
    roots: list[Tree] = []
    above: list[Tree] = []
    folded: dict[int, int] = {}
    for level, node in view.rows(record):
        if depth is not None and level > depth:
            branch = above[depth]
            folded[id(branch)] = folded.get(id(branch), 0) + 1
            more = f"… {folded[id(branch)]:,} below: show --node, or a larger --depth"
            branch.children[:] = [Tree(Text(more, "dim"), guide_style="dim")]
            continue
        text = part("row", node).strip().replace("\n", "\\\n")
        branch = Tree(_markdown(text), style=_style(record, node), guide_style="dim")
        if level == 0:
            roots.append(branch)
        else:
            above[level - 1].children.append(branch)
        above[level:] = [branch]
    return roots


def _style(record: RunRecord, node: Node) -> str:
    """Return the colour of a node by its status."""
    if node.dropped or arguments.standing(record, node):
        return "dim"
    if node.status == "missing":
        return "red"
    return "yellow" if node.status == "open" and node.parent is not None else ""
