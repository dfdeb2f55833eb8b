"""Put a wrong call of the command line into words: what is wrong, and the call that is right."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import takewhile
from typing import Any

import typer
from typer.core import TyperGroup

from dialectree.interfaces.cli.streams import program
from dialectree.text import find_nearest

usage = import_module(typer.BadParameter.__module__)
"""The module with the errors of the command line, of click or of typer's own copy of click."""

_OUTCOMES = {"--option": "choice", "--topic": "comparison"}
"""The outcome of the protocols that a flag belongs to."""
_WORDS = {
    "ask": "debate",
    "chat": "debate",
    "discuss": "debate",
    "question": "debate",
    "check": "probability",
    "fact-check": "probability",
    "choose": "choice",
    "pick": "choice",
    "versus": "comparison",
    "vs": "comparison",
    "benchmark": "eval",
    "change": "contest",
    "config": "doctor",
    "continue": "resume",
    "edit": "contest",
    "example": "demo",
    "list": "show",
    "ls": "show",
    "play": "demo",
    "remove": "delete",
    "rm": "delete",
    "runs": "show",
}
"""Words that people try as commands, each with a command, with ``debate`` or with a protocol's outcome."""
_QUOTED = re.compile(r'[^"\\$`!]+')
"""A text that double quotes protect from every shell."""
_TEXT = re.compile(r"\s|[?.!]\Z")
"""Marks of a question or a claim."""
_SEPARATOR = re.compile(r"\s*[,;]\s*")


def join_words(words: Sequence[str]) -> str:
    """Return the words of a call as one line that can be pasted into a shell."""
    return " ".join(map(_quote, words))


def _quote(word: str) -> str:
    if shlex.quote(word) == word:
        return word
    return f'"{word}"' if _QUOTED.fullmatch(word) else shlex.quote(word)


# A command that does not exist


class SuggestingGroup(TyperGroup):
    """A group that answers an unknown command with the call that is probably meant."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that ``args`` name; raise UsageError with a suggestion for an unknown one."""
        name = args[0]
        if name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        suggest = _suggest_command if ctx.parent is None else _suggest_subcommand
        raise usage.UsageError(f"no such command {name!r:.80}{suggest(self, ctx, args)}", ctx)


def _did_you_mean(*words: str) -> str:
    return f"; did you mean: {program()} {join_words(words)}"


def _suggest_subcommand(group: Any, ctx: Any, args: Sequence[str]) -> str:
    """Return the right call of a group: the most similar command, or one that takes the given words."""
    names = [*group.commands]
    if near := find_nearest(args[0], names):
        return _did_you_mean(ctx.info_name, near, *args[1:])
    taking = [name for name in names if _takes_words(group.get_command(ctx, name))]
    call = join_words([ctx.info_name, *taking[:1], *args])
    return f"; {ctx.info_name} takes {', '.join(names)}, such as: {program()} {call}"


def _takes_words(command: Any) -> bool:
    return any(parameter.param_type_name == "argument" for parameter in command.params)


def _suggest_command(group: Any, ctx: Any, args: Sequence[str]) -> str:
    """Return the right call of the program for a question, another word, or a misspelt command."""
    from dialectree.protocols.protocol import methods

    name, *rest = args
    if re.search(r"\s", name):
        return f"; did you mean: {program()} {join_words([_choose_command('debate', args), *args])}"
    if method := methods().get(name):
        declared = method.protocol
        words = [declared.command] if declared.command else ["run", declared.name]
        return _did_you_mean(*words, *rest, *(["--method", name] if name != declared.name else []))
    if name.lower() in (*_WORDS, "debate"):
        return _did_you_mean(_choose_command(_WORDS.get(name.lower(), "debate"), rest), *rest)
    inside = [above for above in group.list_commands(ctx) if name in _list_subcommands(group, ctx, above)]
    if inside:
        return _did_you_mean(inside[0], *args)
    if near := find_nearest(name, [*group.commands]):
        return _did_you_mean(near, *rest)
    words = [*takewhile(lambda word: not word.startswith("-"), args)]
    if _TEXT.search(words[-1]):
        text = " ".join(words)
        flags = args[len(words) :]
        return _did_you_mean(_choose_command("debate", [text, *flags]), text, *flags)
    return f"; {program()} --help lists the commands"


def _list_subcommands(group: Any, ctx: Any, name: str) -> list[str]:
    command = group.get_command(ctx, name)
    return [*command.commands] if isinstance(command, TyperGroup) and name != "run" else []


def _choose_command(kind: str, words: Sequence[str]) -> str:
    """Return the command for ``kind``: a command's name, a protocol's outcome, or ``debate``.

    Flags and the form of the text tell what a debate is to decide.
    """
    from dialectree.protocols.protocol import load_protocols

    if kind == "debate":
        chosen_flags = (word.partition("=")[0] for word in words)
        outcomes = [_OUTCOMES[flag] for flag in chosen_flags if flag in _OUTCOMES]
        claim = bool(words) and words[0].rstrip().endswith(".")
        kind = next(iter(outcomes), "probability" if claim else "answer")
    declared = (protocol for protocol in load_protocols().values() if protocol.command)
    return next((protocol.command for protocol in declared if protocol.outcome == kind), kind)


# A call that cannot be parsed


def describe_usage_error(error: Any) -> str:
    """Return one line that says what is wrong with a call and what to do."""
    from pydantic import ValidationError

    message: str = error.format_message()
    if isinstance(error.__cause__, ValidationError):
        fault = error.__cause__.errors(include_url=False, include_context=False)[0]
        value = repr(fault["input"])
        problem = fault["msg"].removeprefix("Value error, ").removeprefix(f"{value} is not ")
        flag = max(error.param.opts, key=len)
        return f"{flag}: {problem[:1].lower()}{problem[1:].rstrip('.')}, not {value:.80}"
    line = " ".join(f"{message[:1].lower()}{message[1:]}".split())
    advice = _advise(error, line)
    return f"{line.rstrip('.')}{advice}" if advice else line


def _advise(error: Any, line: str) -> str:
    """Return advice on a call that cannot be parsed; empty if there is no advice."""
    context = getattr(error, "ctx", None)
    if context is None:
        return ""
    if isinstance(error, usage.MissingParameter):
        return _advise_on_missing(error, context)
    if "unexpected extra argument" in line:
        texts = [parameter for parameter in context.command.params if parameter.param_type_name == "argument"]
        return ": put the text in quotes" if len(texts) == 1 else ""
    if isinstance(error, usage.NoSuchOption):
        commands = context.find_root().command.commands
        having = [name for name, command in commands.items() if error.option_name in _list_flags(command)]
        return f"; an option of {', '.join(having)}" if having else ""
    return ""


def _list_flags(command: Any) -> set[str]:
    """Return the flags of a command."""
    return {flag for parameter in command.params for flag in parameter.opts}


def _advise_on_missing(error: Any, context: Any) -> str:
    """Return how many arguments of this kind the command needs, which of them is no file, and an example."""
    metavar = getattr(error.param, "metavar", None)
    alike = [
        parameter
        for parameter in context.command.params
        if parameter.param_type_name == "argument" and parameter.metavar == metavar
    ]
    advice = f": {context.info_name} needs {len(alike)} of these" if len(alike) > 1 else ""
    given = [value for parameter in alike if isinstance(value := context.params.get(parameter.name), str)]
    for value in given if len(alike) > 1 else []:
        advice += f"; {value!r:.60} is a text, not a file" if " " in value else ""
    examples = (context.command.epilog or "").splitlines()
    return advice + (f"; for example: {examples[0]}" if examples else "")


# Several values in one


def explain_joined_values(
    parameters: Sequence[Any], values: Mapping[str, Any], message: str
) -> Iterator[str]:
    """Yield the correction of each flag that got several values in one, if ``message`` is about it.

    ``--option yes,no`` is one value: the flag is given once for each value.
    """
    for parameter in parameters:
        given = values.get(parameter.name) if getattr(parameter, "multiple", False) else None
        value = given[0] if given and len(given) == 1 else None
        if not isinstance(value, str) or "=" in value:
            continue
        flag, parts = max(parameter.opts, key=len), [*filter(None, _SEPARATOR.split(value))]
        about = f"`{parameter.name}`" in message or value in message
        if len(parts) > 1 and about:
            words = [word for part in parts for word in (flag, part)]
            yield f"write {flag} once for each value: {join_words(words)}"
