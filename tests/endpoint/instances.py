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


def words_of(prompt: str) -> Sequence[str]:
    """What replies are made of: the last words of the prompt."""
    return re.findall(r"[A-Za-z]{2,}", prompt[-1500:]) or _WORDS


def quoted_schema(prompt: str) -> Schema | None:
    """The JSON schema that a prompt shows; None where it shows none."""
    for found in re.finditer(r'\{\s*"(?:properties|type|title|description)"', prompt):
        try:
            schema, _ = json.JSONDecoder().raw_decode(prompt, found.start())
        except ValueError:
            continue
        if isinstance(schema, dict) and "properties" in schema:
            return schema
    return None


def resolved(schema: Any, root: Schema | None = None) -> Any:
    """Return ``schema`` with its references to ``$defs`` replaced by what they name."""
    if isinstance(schema, list):
        return [resolved(part, root) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    root = root or schema
    if "$ref" in schema:
        named = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        return resolved(named, root)
    return {name: resolved(part, root) for name, part in schema.items() if name != "$defs"}


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
        """A valid instance of ``schema``, which has no references (see :func:`resolved`)."""
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.rng.choice(schema["enum"])
        if "anyOf" in schema:
            return self.instance(self.rng.choice(schema["anyOf"]))
        match schema.get("type"):
            case "object":
                return {
                    name: self.fixed[name] if name in self.fixed else self.instance(part)
                    for name, part in schema.get("properties", {}).items()
                }
            case "array":
                return self._array(schema)
            case "string":
                text = self.text(6, 18)
                while len(text) < schema.get("minLength", 0):
                    text += " " + self.text(6, 18)
                return text[: schema.get("maxLength")]
            case "number":
                low, high = _limits(schema, 1.0)
                return float(min(max(round(self.rng.uniform(low, high), 4), low), high))
            case "integer":
                low, high = _limits(schema, 10)
                return self.rng.randint(math.ceil(low), math.floor(high))
            case "boolean":
                return self.rng.random() < 0.5
            case "null":
                return None
            case other:
                raise ValueError(f"no instance of the type {other!r} can be made here")

    def _array(self, schema: Schema) -> list[Any]:
        places: Sequence[Schema] = schema.get("prefixItems", ())
        items = schema.get("items", not places)
        least = schema.get("minItems", self.array_items or 2)
        most = max(least, self.array_items or 4)
        limit = schema.get("maxItems", most)
        count = self.rng.randint(min(least, limit), min(most, limit))
        if items is False:
            count = min(count, len(places))
        others: Schema = items if isinstance(items, Mapping) else {"type": "string"}
        parts = [*places, *[others] * (count - len(places))][:count]
        return [self.instance(part) for part in parts]


def _limits(schema: Schema, width: float) -> tuple[float, float]:
    """Return the least and the greatest value, ``width`` apart where the schema sets only one."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None:
        low = 0 if high is None or high >= 0 else high - width
    return low, low + width if high is None else high
