"""Generate ``skills/dialectree/SKILL.md``, from which coding agents learn the commands.

Its sources are the declarations and the help of the commands: ``python -m docs.skill``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from dialectree.interfaces.cli import flags
from dialectree.interfaces.cli.program import app
from dialectree.protocols.options import get_option_details
from dialectree.protocols.protocol import Protocol, load_protocols

FILE = Path("skills/dialectree/SKILL.md")

_TEXT = """\
---
name: dialectree
description: Debates questions, choices, claims and papers between language models, and verifies \
the claims of a text, from the command line. Use it to check an answer, a document or a decision \
before relying on it, when a wrong one would cost more than a minute of model calls.
---

# dialectree

<!-- Made by python -m docs.skill; a test keeps it in step. -->

## When to use it

- Before you hand over a text that states facts: `dialectree gate FILE --min 0.7`.
- Before a decision between options, or where sources disagree: one of the debates below.
- Not for what you can look up, compute or test yourself: that is faster and surer.

## Which debate

{debates}
## Other commands

{commands}
`dialectree COMMAND --help` lists the settings of each.

## How to use it

1. `dialectree doctor` says which model would be used. Choose another one by `--model openai:NAME`
   with `--base-url URL`. The embedded model shows how the program works; its answers are no better
   than chance, so never rely on them.
2. Add `--dry-run` to see the calls, tokens and seconds beforehand. More than 300 calls need
   `--yes`; `--max-calls N` bounds them.
3. Add `--json` (`gate`: `--format json`) and read stdout: it holds one JSON document and nothing
   else. Progress goes to stderr.
4. Read the verdict's confidence or probability, not the answer alone, and say how sure it is when
   you report it. `dialectree show RUN` shows what it rests on.
5. Doubt one step? `dialectree contest RUN` changes it and asks again only what depends on it.

## Exit status

- 0: answered; of `gate`: every claim passes.
- 2: the call or its input is wrong; one line on stderr says what.
- 3: the model cannot be reached, or refuses the key.
- 4: a budget was reached; `dialectree resume RUN` goes on.
- 5: degraded or unresolved; of `gate`: some claims do not pass.
"""


def skill() -> str:
    """Return the text of the skill, for the protocols that come with dialectree."""
    return _TEXT.format(debates="\n".join(_debates()), commands="".join(_commands()))


def _ours() -> list[Protocol]:
    protocols = load_protocols().values()
    return [protocol for protocol in protocols if protocol.graph.startswith("dialectree.")]


def _debates() -> Iterator[str]:
    """Yield a part for each protocol: its summary, its input, and an example."""
    for protocol in _ours():
        yield f"### dialectree {protocol.command}\n\n{protocol.summary}\n"
        for name in protocol.input.model_fields:
            declared = get_option_details(protocol.input, name)
            if declared.get("hidden") or declared.get("evaluation_only"):
                continue
            flag = f"--{declared.get('alias') or name.replace('_', '-')}"
            given = name.upper() if declared.get("positional") else flag
            yield f"- `{given}`: {flags.help_of(protocol.input, name)}"
        examples = "\n".join(f"dialectree {protocol.command} {w}" for w in protocol.examples)
        yield f"\n```sh\n{examples}\n```\n"


def _commands() -> Iterator[str]:
    """Yield a line for each command that a coding agent needs, other than the debates."""
    program: Any = typer.main.get_command(app)
    for name in ("gate", "show", "contest", "resume", "doctor"):
        text = program.commands[name].get_short_help_str(limit=1000)
        yield f"- `dialectree {name}`: {text}\n"


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(skill(), encoding="utf-8")
