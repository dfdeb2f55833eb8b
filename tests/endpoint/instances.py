"""Valid instances of JSON schemas, and plain text, every choice taken from one random source."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]

_WORDS = ("the", "claim", "rests", "on", "evidence", "that", "one", "side", "disputes")
_DEEP = 6
"""From this depth on the shortest instance is taken, so that a recursive schema comes to an end."""


def words_of(prompt: str) -> Sequence[str]:
    """What replies are made of: the last words of the prompt."""
    return re.findall(r"[A-Za-z]{2,}", prompt[-1500:]) or _WORDS


def quoted_schema(prompt: str) -> Schema | None:
    """The JSON schema that a prompt shows; None where it shows none."""
    for found in re.finditer(r'\{\s*"(?:\$defs|properties|type|title|description)"', prompt):
        try:
            schema, _ = json.JSONDecoder().raw_decode(prompt, found.start())
        except ValueError:
            continue
        if isinstance(schema, dict) and "properties" in schema:
            return schema
    return None


@dataclass
class Inventor:
    """Makes up instances. A property named in ``fixed`` has that value wherever it stands."""

    rng: random.Random
    words: Sequence[str]
    fixed: Mapping[str, Any]
    array_items: int = 0
    """Items of an array that sets no least number; 0: 2 to 4."""

    def text(self, least: int, most: int) -> str:
        """Some words."""
        return " ".join(self.rng.choices(self.words, k=self.rng.randint(least, most)))

    def instance(self, schema: Schema) -> Any:
        """A valid instance of ``schema``; ValueError where it asks for what is not known here."""
        return self._value(schema, schema, 0)

    def _value(self, schema: Schema, root: Schema, depth: int) -> Any:
        if "$ref" in schema:
            return self._value(_target(schema["$ref"], root), root, depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.rng.choice(schema["enum"])
        if branches := schema.get("anyOf") or schema.get("oneOf"):
            nulls = [branch for branch in branches if branch.get("type") == "null"]
            chosen = nulls if nulls and depth >= _DEEP else branches
            return self._value(self.rng.choice(chosen), root, depth + 1)
        match schema.get("type"):
            case "object":
                return self._object(schema, root, depth)
            case "array":
                return self._array(schema, root, depth)
            case "string":
                return self._string(schema)
            case "number":
                return self._number(schema)
            case "integer":
                return self._integer(schema)
            case "boolean":
                return self.rng.random() < 0.5
            case "null":
                return None
            case other:
                raise ValueError(f"no instance of the type {other!r} can be made here")

    def _object(self, schema: Schema, root: Schema, depth: int) -> dict[str, Any]:
        needed = schema.get("required", ())
        return {
            name: self.fixed[name] if name in self.fixed else self._value(part, root, depth + 1)
            for name, part in schema.get("properties", {}).items()
            if depth < _DEEP or name in needed
        }

    def _array(self, schema: Schema, root: Schema, depth: int) -> list[Any]:
        places: Sequence[Schema] = schema.get("prefixItems", ())
        items = schema.get("items", not places)
        least = schema.get("minItems", 0 if depth >= _DEEP else self.array_items or 2)
        most = least if depth >= _DEEP else max(least, self.array_items or 4)
        limit = schema.get("maxItems", most)
        count = self.rng.randint(min(least, limit), min(most, limit))
        if items is False:
            count = min(count, len(places))
        others: Schema = items if isinstance(items, Mapping) else {"type": "string"}
        parts = [*places, *[others] * (count - len(places))][:count]
        return [self._value(part, root, depth + 1) for part in parts]

    def _string(self, schema: Schema) -> str:
        if "pattern" in schema or "format" in schema:
            raise ValueError("no text of a given pattern or format can be made here")
        text = self.text(6, 18)
        while len(text) < schema.get("minLength", 0):
            text += " " + self.text(6, 18)
        return text[: schema.get("maxLength")]

    def _number(self, schema: Schema) -> float:
        low, high = _limits(schema, 1e-4, 1.0)
        return float(min(max(round(self.rng.uniform(low, high), 4), low), high))

    def _integer(self, schema: Schema) -> int:
        low, high = _limits(schema, 1, 10)
        return self.rng.randint(math.ceil(low), math.floor(high))


def _target(reference: str, root: Schema) -> Schema:
    found = root
    for name in reference.removeprefix("#").split("/"):
        found = found[name] if name else found
    return found


def _limits(schema: Schema, step: float, width: float) -> tuple[float, float]:
    """The least and the greatest value; one ``step`` inside an exclusive limit."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + step
    if "exclusiveMaximum" in schema:
        high = schema["exclusiveMaximum"] - step
    if low is None:
        low = 0 if high is None or high >= 0 else high - width
    return low, low + width if high is None else high
