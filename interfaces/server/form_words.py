"""Describe a protocol's settings in plain words, for a form that a person fills in.

A docstring of a setting is written for a programmer: it names other settings and raw values, in
backticks. A form shows the titles of these settings, and the words of these values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dialectree.protocols.options import get_option_details
from dialectree.protocols.protocol import Protocol, load_protocols
from dialectree.protocols.settings import ProtocolSettings

JsonSchema = dict[str, Any]

_CODE = re.compile(r"`{1,2}([^`]+)`{1,2}")
"""A name or a value in backticks."""
_COMMAND_LINE = re.compile(r"(:? *``[^`]*=[^`]*``)|(; - reads it from standard input)")
"""Parts of a docstring that only help on the command line: ``name=value``, standard input."""


_TITLES = {
    "model": "Model of every role",
    "roles": "Models of single roles",
    "prompt_form": "Length of the prompts",
    "inner": "Settings of debates inside",
    "max_calls": "Most calls",
    "max_tokens": "Most tokens",
    "max_seconds": "Most seconds",
    "max_cost": "Most money",
    "prompts": "Keep what was sent",
    "segments": "Segments of a search",
    "whole": "Tokens shown whole",
    "neighbours": "Neighbouring segments",
    "ranking": "How segments are ranked",
    "memory": "Own knowledge of debaters",
    "judge_sees": "What judges read of the sources",
    "check": "Check of points",
}
"""Names of the settings that every protocol has; a protocol gives its own settings their titles."""
_CHOICES = {
    "prompt_form": {
        "auto": "as the models need",
        "small": "brief",
        "medium": "whole, task repeated",
        "full": "whole",
    },
    "ranking": {"scores": "by blended scores", "ranks": "by their places in both lists"},
    "judge_sees": {"none": "nothing", "cited": "the cited sentences", "pool": "all that was found"},
    "check": {"none": "no check", "points": "each point against its sentences"},
}
"""The words of their values."""


class SettingWords:
    """The words of the settings of one protocol."""

    def __init__(self, protocol: Protocol) -> None:
        self._kind: type[ProtocolSettings] = protocol.settings

    def describe_form(self, schema: JsonSchema) -> JsonSchema:
        """Return the form of the settings with a title and a plain description of each setting.

        A choice has ``choices``, the words of each value, and a frequent setting ``common``.
        """
        fields: Mapping[str, JsonSchema] = schema["properties"]
        described = {name: field | self._describe_setting(name) for name, field in fields.items()}
        return {**schema, "properties": described}

    def describe_preset(self, settings: Mapping[str, Any]) -> list[str]:
        """Return a line on each setting of a preset, such as ``Rounds of a debate: 2``."""
        return [f"{self.find_title(name)}: {self._format_value(name, settings[name])}" for name in settings]

    def find_title(self, name: str) -> str:
        """Return the name of a setting for people."""
        title = self._kind.model_fields[name].title or _TITLES.get(name)
        return title or name.replace("_", " ").capitalize()

    def _describe_setting(self, name: str) -> JsonSchema:
        details = get_option_details(self._kind, name)
        about: JsonSchema = {"title": self.find_title(name), "description": self._describe_in_words(name)}
        about |= {"choices": choices} if (choices := self._choices(name)) else {}
        return about | {key: details[key] for key in ("common", "person") if details.get(key)}

    def _describe_in_words(self, name: str) -> str:
        """Return the docstring of a setting in one line, with titles and words in place of code."""
        field = self._kind.model_fields[name]
        text = _COMMAND_LINE.sub("", " ".join((field.description or "").split()))
        subjects = [name]
        text = _CODE.sub(lambda code: self._replace_code(code[1], subjects), text)
        text = text.replace("” “", ": ")  # a setting with its value
        return re.sub(r"\bnone:", "left empty:", text) if field.default is None else text

    def _replace_code(self, code: str, subjects: list[str]) -> str:
        """Return a title or the words of a value for ``code``; a value is of the latest of ``subjects``."""
        if code in self._kind.model_fields:
            subjects.append(code)
            return f"“{self.find_title(code)}”"
        for subject in reversed(subjects):
            if words := self._choices(subject).get(code):
                return f"“{words}”"
        protocols = load_protocols()
        return protocols[code].title if code in protocols else code

    def _choices(self, name: str) -> Mapping[str, str]:
        return get_option_details(self._kind, name).get("choices") or _CHOICES.get(name, {})

    def _format_value(self, name: str, value: object) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        return self._choices(name).get(str(value), str(value))
