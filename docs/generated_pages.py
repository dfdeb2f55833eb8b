"""Generate pages from declarations: of protocols, settings and commands, and llms.txt.

``mkdocs.yml`` names this file as a hook. An installed protocol from another package gets a page,
too. The hook also ranks pages in the search, gives the copy button the commands to copy, and leads from
addresses of earlier sites to the pages of today.
"""

from __future__ import annotations

import html
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from pydantic import BaseModel, TypeAdapter
from typer.main import get_command

from dialectree import prompts, report
from dialectree.interfaces.cli.program import app
from dialectree.protocols.options import get_option_details
from dialectree.protocols.protocol import Method, Phase, Protocol, load_protocols
from dialectree.protocols.settings import ProtocolSettings
from dialectree.records.folder import RunFolder

ROOT = Path(__file__).resolve().parents[1]
MERMAID = "javascripts/mermaid.js"
"""The script that draws diagrams. Pages with a diagram load it from the site itself."""
MERMAID_SOURCE = ROOT / ".venv" / "mermaid" / "package" / "dist" / "mermaid.tiny.js"
"""The script in its npm package, from which ``make docs`` copies it."""
PHASES = ("role", "phase", "fields of the reply", "a person may change")
METHODS = ("method", "what it does", "settings that it reads")
SEARCH_BOOST = {"changelog.md": 1, "decisions/": 1, "protocols/": 10**4, "reference/": 10**4}
"""The weight of a match in pages whose path begins so."""
GUIDE_BOOST = 10**8
"""The weight in guides. A word in a title counts 1,000 times as much as one in a text.

A page's own ``search: boost`` multiplies it.
"""
CONSOLE = re.compile(
    r'(<div class="language-console highlight">(?:<span class="filename">.*?</span>)?<pre)'
    r"(>.*?</pre>)",
    re.DOTALL,
)
MOVED = {
    "notebook.html": "python.html",
    "tutorial-command.html": "first-debate.html",
    "tutorial-compare.html": "compare-papers.html",
    "tutorial-eval.html": "evaluations.html",
    "tutorial-python.html": "python.html",
}
"""Addresses of earlier sites, each with the page that says the same today."""
OPEN_PATH = re.compile(r'(id="__nav_\d+") checked')
"""The switch that opens one of the three paths in the drawer of a narrow window."""
ROLE = re.compile(r":(?:func|class|meth|mod|attr|data):(?=<code>)")
"""The roles before names in docstrings."""


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table; bars in cells are escaped."""
    lines = [[*headings]]
    lines += [["---"] * len(lines[0]), *([*row] for row in rows)]
    cells = (" | ".join(cell.replace("|", r"\|") for cell in line) for line in lines)
    return "".join(f"| {line} |\n" for line in cells)


def code(text: object) -> str:
    """Return ``text`` as code."""
    return f"`{text}`"


def prose(text: str | None) -> str:
    """Return a docstring as one line of Markdown."""
    return " ".join((text or "").replace("``", "`").split())


# Protocols


def protocol_page(protocol: Protocol) -> str:
    """Return the page of one protocol from its declaration, its graph and its prompts."""
    method = protocol.methods()[protocol.name]
    command = f"dialectree {protocol.command or f'run {protocol.name}'}"
    module = import_module(protocol.graph.partition(":")[0])
    examples = "\n".join(f"$ {command} {words}" for words in protocol.examples)
    function = protocol.command or "run"
    needs = f"\n\nIt needs `pip install '{protocol.requires}'`." if protocol.requires else ""
    return f"""---
description: {json.dumps(protocol.summary)}
---
# {protocol.title}

{protocol.summary}{needs}

{inspect.cleandoc(module.__doc__ or "").replace("``", "`")}

```console
{examples}
```

From Python it is `dialectree.{function}`, for agents `dialectree.as_tool("{protocol.name}")`. The
graph is `{protocol.graph}`.
{played(protocol)}

## Input

{fields(protocol.input, protocol.input.model_fields)}
## Settings

A setting is a flag of the command, an argument of the function, a field of the server's form, and
a variable or a line of `dialectree.toml` ([settings](../reference/settings.md)).

{fields(protocol.settings, own_settings(protocol))}
## Roles

A role can be given a model of its own: `--role NAME=SPEC`. A family's name stands for all its roles.

{table(("role", "family"), ((code(r), code(f) if f else "") for r, f in protocol.roles.items()))}
## Phases

{table(PHASES, map(phase_row, protocol.phases))}
## The graph

A dotted arrow is a decision.

```mermaid
{method.graph().get_graph(xray=1).draw_mermaid()}```

## Rules

Each decision of the drawing, and of the graphs inside it, is a pure function of the state.

{table(("graph", "after the step", "rule", "goes on with"), rules(method))}
## Methods

{table(METHODS, map(method_row, protocol.methods().values()))}
## Prompts

{table(("prompt", "version", "reply", "source"), prompt_rows(protocol))}"""


def played(protocol: Protocol) -> str:
    """Return the part of a protocol's page that plays the recorded debate."""
    if not protocol.demo:
        return ""
    player = f"../players/{protocol.name}.html"
    return f"""
## A debate to look into

Written by hand, not by a model, and shown [on the page of a debate](../page.md): unfold it, search
it, play it (▶), try other figures. It fills a [window of its own]({player}), too.

<iframe class="player" src="{player}" title="A debate by {protocol.title}" loading="lazy"></iframe>
"""


def player(protocol: Protocol) -> str:
    """Return the page with the recorded debate of a protocol in it."""
    run = RunFolder(protocol.recording())
    return report.html(run.record(), run.calls(), run.events(), run.texts())


def own_settings(protocol: Protocol) -> list[str]:
    """Return the names of a protocol's own settings in the order of their declaration."""
    own = protocol.own_settings()
    return [name for name in protocol.settings.model_fields if name in own]


def fields(kind: type[BaseModel], names: Iterable[str]) -> str:
    """Return a table of declared fields."""
    schemas = TypeAdapter(kind).json_schema()["properties"]  # a server's form leaves some out
    rows = []
    for name in names:
        field = kind.model_fields[name]
        default = "required" if field.is_required() else code(json.dumps(schemas[name].get("default")))
        if default == "`null`":
            default = "none"
        mark = " For evaluations only." if get_option_details(kind, name).get("evaluation_only") else ""
        rows.append((code(name), values(schemas[name]), default, prose(field.description) + mark))
    return table(("name", "values", "default", "what it says"), rows)


def values(schema: Mapping[str, Any]) -> str:
    """Return the values that the schema of a field allows."""
    if "enum" in schema:
        return ", ".join(map(code, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(values(one) for one in schema["anyOf"] if one.get("type") != "null")
    least = schema.get("minimum", schema.get("exclusiveMinimum"))
    most = schema.get("maximum", schema.get("exclusiveMaximum"))
    bounds = f", {least} to {most}" if least is not None and most is not None else ""
    if least is not None and most is None:
        bounds = f", {'at least' if 'minimum' in schema else 'more than'} {least}"
    names = {"array": "texts", "object": "a table", "string": "text", "boolean": "yes or no"}
    kind = schema.get("type", "")
    return f"{names.get(kind, kind)}{bounds}"


def phase_row(declared: Phase) -> tuple[str, str, str, str]:
    """Return the row of one phase."""
    reply = [name for kind in declared.replies() for name in kind.model_fields]
    optional = " (can be missing)" if declared.optional else ""
    change = ", ".join(map(code, (*declared.editable, *declared.switches)))
    return (
        code(declared.role),
        (code(declared.name) if declared.name else "all") + optional,
        ", ".join(map(code, dict.fromkeys(reply))),
        change or "",
    )


def rules(method: Method) -> Iterator[tuple[str, str, str, str]]:
    """Yield the rules of a graph and of the graphs inside it, each once."""
    graphs: list[Any] = [method.graph()]
    seen: set[str] = set()
    while graphs:
        graph = graphs.pop(0)
        if graph.name in seen:
            continue
        seen.add(graph.name)
        for source, branches in graph.builder.branches.items():
            for branch in branches.values():
                text = prose(getattr(branch.path, "afunc", branch.path).__doc__)
                if text:
                    ways = ", ".join(map(code, branch.ends or ()))
                    yield code(graph.name), code(source.strip("_")), text, ways
        graphs += [inner for _, inner in graph.get_subgraphs() if hasattr(inner, "builder")]


def method_row(method: Method) -> tuple[str, str, str]:
    """Return the row of a protocol's method."""
    baseline = " A baseline." if method.variant.baseline else ""
    reads = ", ".join(map(code, sorted(method.reads())))
    return code(method.name), prose(method.variant.summary) + baseline, reads


def prompt_rows(protocol: Protocol) -> Iterator[tuple[str, str, str, str]]:
    """Yield the row of each prompt that a method of the protocol uses."""
    folders = [*protocol.prompts, *(name for variant in protocol.variants for name in variant.prompts or ())]
    for name in dict.fromkeys(name for folder in folders for name in prompts.names(folder)):
        prompt = prompts.load(name)
        yield code(name), str(prompt.version), code(prompt.reply), prompt.source


def protocols_page() -> str:
    """Return the list of all protocols."""
    rows = (
        (f"[{one.title}]({name}.md)", code(f"dialectree {one.command or f'run {name}'}"), one.summary)
        for name, one in load_protocols().items()
    )
    return f"""---
description: The protocols that are installed, each with its own page.
---
# Protocols

Each page is generated from the protocol's declaration, so it shows what the program does.
[A protocol of your own](../write-a-protocol.md) gets a page in the same way.

{table(("protocol", "command", "what it does"), rows)}"""


# Settings and commands


def settings_page() -> str:
    """Return the page of the settings that every protocol has."""
    shared = ProtocolSettings.model_fields
    groups = dict.fromkeys(str(get_option_details(ProtocolSettings, name)["group"]) for name in shared)
    parts = []
    for group in groups:
        names = [name for name in shared if get_option_details(ProtocolSettings, name)["group"] == group]
        parts.append(f"## {group}\n\n{fields(ProtocolSettings, names)}")
    sources = (
        (code(name), code(option(name)), code(f"DIALECTREE_{name.upper()}"), code(f"{name} = ..."))
        for name in shared
    )
    owned = (
        (f"[{one.title}](../protocols/{name}.md#settings)", ", ".join(map(code, own_settings(one))))
        for name, one in load_protocols().items()
    )
    return f"""---
description: The settings that every protocol has, with their flags, variables and defaults.
---
# Settings

A setting's value is the first found in: its flag or argument, the environment, `dialectree.toml`,
its default. These are the settings of every protocol; those of one protocol are on its page.

{table(("protocol", "its own settings"), owned)}
{chr(10).join(parts)}
## Where each can be set

To set one for a single protocol, use a variable like `DIALECTREE_TSD_MAX_DEPTH`, or a line under
`[tsd]` in `dialectree.toml`.

{table(("argument", "flag", "variable", "dialectree.toml"), sources)}"""


def option(name: str) -> str:
    """Return the flag of a shared setting."""
    return f"--{(get_option_details(ProtocolSettings, name).get('alias') or name).replace('_', '-')}"


def commands_page() -> str:
    """Return the page of all commands, from the program's own help."""
    parts = "\n".join(commands("dialectree", get_command(app)))
    return f"""---
description: Every command with its arguments and flags.
---
# Commands

`dialectree COMMAND --help` prints this, too. [What they do](../commands.md) has examples.

{parts}"""


def commands(path: str, command: Any) -> Iterator[str]:
    """Yield the part of a command, and those of the commands below it."""
    context = command.make_context(path, [], resilient_parsing=True)
    inner = {name: command.get_command(context, name) for name in getattr(command, "commands", {})}
    yield f"## {path}\n\n{prose(command.help)}\n"
    groups: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        argument = parameter.param_type_name == "argument"
        heading = getattr(parameter, "rich_help_panel", None) or "Options"
        if record is not None:
            row = (code(record[0].strip()), prose(record[1]))
            groups.setdefault("Arguments" if argument else heading, []).append(row)
    for heading, rows in groups.items():
        yield f"**{heading}**\n\n{table(('flag', 'what it does'), rows)}"
    for name, one in inner.items():
        if not one.hidden:
            yield from commands(f"{path} {name}", one)


# The changelog


def changelog_page() -> str:
    """Return the changelog with its links as they are in the site."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return text.replace("](docs/", "](")


# Links


def links() -> str:
    """Return a list of the addresses in ``[project.urls]``."""
    urls = metadata.metadata("dialectree").get_all("Project-URL") or []
    named = (url.partition(", ") for url in urls)
    lines = [f"- [{name}]({address})\n" for name, _, address in named]
    return "\n## Links\n\n" + "".join(lines) if lines else ""


# The text of the copy button


def runnable(console: str) -> str:
    """Return the commands of a console block, without prompts and output.

    A line that ends with a backslash continues on the next line.
    """
    lines: list[str] = []
    goes_on = False
    for line in console.splitlines():
        if goes_on or line.startswith("$ "):
            lines.append(line if goes_on else line.removeprefix("$ "))
            goes_on = line.endswith("\\")
    return "\n".join(lines)


def with_copy(block: re.Match[str]) -> str:
    """Return a console block with the text that its copy button copies."""
    console = html.unescape(re.sub(r"<[^>]*>", "", block[2].removeprefix(">")))
    return f'{block[1]} data-copy="{html.escape(runnable(console))}"{block[2]}'


# llms.txt


def listed(items: Iterable[Any], depth: int = 2) -> Iterator[str]:
    """Yield the lines of llms.txt for a part of the navigation."""
    for item in items:
        if item.is_section:
            yield f"\n{'#' * depth} {item.title}\n"
            yield from listed(item.children, depth + 1)
        elif item.is_page:
            described = item.meta.get("description") or first_sentence(item.markdown or "")
            yield f"- [{item.title}]({item.file.src_uri}): {described}"


def first_sentence(markdown: str) -> str:
    """Return the first sentence of a page's first paragraph."""
    prose_only = re.sub(r"^```.*?^```", "", markdown, flags=re.MULTILINE | re.DOTALL)
    for block in re.split(r"\n\s*\n", prose_only):
        if block.strip() and not block.lstrip().startswith(("#", "|", "![", "---", ":::")):
            text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(block.split()))
            return re.split(r"(?<=\.)\s", text.lstrip("- "), maxsplit=1)[0]
    return ""


def write_for_programs(nav: Navigation, files: Files, config: MkDocsConfig) -> None:
    """Write llms.txt, llms-full.txt and the Markdown of each page into the site."""
    site = Path(config.site_dir)
    lines = ["# dialectree", "", f"> {config.site_description}", *listed(nav.items)]
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    texts = []
    unlisted = [file.page for file in files.documentation_pages() if file.page not in nav.pages]
    for page in [*nav.pages, *filter(None, unlisted)]:
        text = (page.markdown or "").strip() + "\n"
        target = site / page.file.src_uri
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        texts.append(f"<!-- {page.file.src_uri} -->\n\n{text}")
    (site / "llms-full.txt").write_text("\n".join(texts), encoding="utf-8")


# Addresses of earlier sites


def redirect(target: str) -> str:
    """Return a page that leads to ``target``, an address in the same folder."""
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>This page has moved</title>
<link rel="canonical" href="{target}">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url={target}">
<p>This page has moved: <a href="{target}">{target}</a></p>
</html>
"""


# The events of mkdocs


def on_config(config: MkDocsConfig, **_: object) -> None:
    """Add the page of each protocol to the navigation, and the version to the footer."""
    config.copyright = f"dialectree {metadata.version('dialectree')} · MIT licence"
    paths = {title: pages for path in config.nav or [] for title, pages in path.items()}
    (protocols,) = (page["Protocols"] for page in paths["Study"] if "Protocols" in page)
    protocols[1:1] = [{one.title: f"protocols/{name}.md"} for name, one in load_protocols().items()]


def on_files(files: Files, config: MkDocsConfig, **_: object) -> None:
    """Add the generated pages, and the script that draws diagrams."""
    if not MERMAID_SOURCE.exists():
        raise PluginError(f"{MERMAID_SOURCE} is missing; build the site by `make docs`")
    pages = {
        "changelog.md": changelog_page(),
        "protocols/index.md": protocols_page(),
        "reference/commands.md": commands_page(),
        "reference/settings.md": settings_page(),
        **{f"protocols/{name}.md": protocol_page(one) for name, one in load_protocols().items()},
        **{f"players/{n}.html": player(one) for n, one in load_protocols().items() if one.demo},
    }
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    files.append(File.generated(config, MERMAID, abs_src_path=str(MERMAID_SOURCE)))


_site: dict[str, Any] = {}
"""The navigation and the files of the site in this build."""


def on_nav(nav: Navigation, files: Files, **_: object) -> None:
    """Remember the navigation for llms.txt."""
    _site.update(nav=nav, files=files)


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Rank guides first in the search, and list the project's addresses on the questions page."""
    name = page.file.src_uri
    boosts = (boost for start, boost in SEARCH_BOOST.items() if name.startswith(start))
    page_boost = page.meta.get("search", {}).get("boost", 1)
    page.meta["search"] = {"boost": page_boost * next(boosts, GUIDE_BOOST)}
    return markdown + links() if name == "questions.md" else markdown


def on_page_content(content: str, **_: object) -> str:
    """Remove the roles before names in docstrings, and prepare the copy buttons."""
    return CONSOLE.sub(with_copy, ROLE.sub("", content))


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Label the search, show all paths in the drawer, and load the script on pages with diagrams.

    Material would load the script from another site, and open the drawer inside one path.
    """
    output = output.replace('role="dialog">', 'role="dialog" aria-label="Search">', 1)
    output = OPEN_PATH.sub(r"\1", output)
    if '<pre class="mermaid">' not in output:
        return output
    script = f'<script src="{get_relative_url(MERMAID, page.url)}"></script>'
    return output.replace("</head>", f"{script}</head>", 1)


def on_post_build(config: MkDocsConfig, **_: object) -> None:
    """Write the files of the site for programs, and the addresses of earlier sites."""
    write_for_programs(_site["nav"], _site["files"], config)
    for address, target in MOVED.items():
        (Path(config.site_dir) / address).write_text(redirect(target), encoding="utf-8")
