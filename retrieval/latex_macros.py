"""The macros that a LaTeX paper defines: what each use of one stands for, without running any."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from dialectree.errors import InputError
from dialectree.retrieval import latex_definitions, latex_source
from dialectree.retrieval.latex_definitions import Definition, Macro, Parameter

_DEEPEST = 50
"""Macros within macros and within arguments; deeper ones are left alone."""
_WORD = re.compile(r"\\(?:([A-Za-z@]+)|.)", re.DOTALL)
_PLACE = re.compile(r"\\.|##|#(\d)", re.DOTALL)
_DONE = "\x02"
"""Stands in the name of a macro that is not to be written out again; no source holds it."""
_SWITCHES = re.compile(r"(?<!\\)(?:\\\\)*(?:(\$)|\\(begin|end)(?![A-Za-z])|\\([\[\]()]))")
_BUILT_IN = {
    "xspace": Macro(""),
    "onedot": Macro("."),
    "@gobble": Macro("", (Parameter(),)),
    "@firstofone": Macro("#1", (Parameter(),)),
}


@dataclass(frozen=True)
class Known:
    """What macros mean already, whatever a paper makes of them."""

    held: Collection[str] = ()
    """Those that keep their meaning."""
    silent: Collection[str] = ()
    """Those that say nothing, though the paper tells what they take."""
    is_known: Callable[[str], bool] = lambda name: False
    """Whether a macro has a meaning and arguments that the paper need not tell."""


def written_out(text: str, name: str, known: Known) -> str:
    """With every use of the paper's own macros replaced by what it stands for."""
    text = text.replace(_DONE, "")
    room = min(latex_source.LARGEST, 10 * len(text) + 1_000_000)
    writer = _Writer(name, known, room)
    writer.learn(text)
    text = writer.written(text).replace(_DONE, "")
    if len(text) > latex_source.LARGEST:
        raise writer.too_much()
    return text


class _Writer:
    """Writes macros out, from the top of the text down, as far as there is room."""

    def __init__(self, name: str, known: Known, room: int) -> None:
        self.name, self.known, self.room = name, known, room
        self.macros: dict[str, Macro] = dict(_BUILT_IN)
        self.passed: set[str] = set()
        """Those whose definition stands above."""

    def learn(self, text: str) -> None:
        """Each macro's first definition, for uses that stand above it, as in a title."""
        pairs, at = latex_definitions.pairs(text), 0
        while found := _WORD.search(text, at):
            definition = latex_definitions.read(text, found, pairs)
            at = definition.end if definition else found.end()
            if definition and definition.name not in self.macros:
                self._define(definition)
        self.passed.clear()

    def _define(self, definition: Definition) -> None:
        name, macro = definition.name, definition.macro
        if name in self.known.held or name in _BUILT_IN:
            return
        if definition.unless_defined and (name in self.macros or self.known.is_known(name)):
            return
        if macro.alias in self.passed or macro.alias in _BUILT_IN:
            macro = self.macros[macro.alias]
        if name in self.known.silent:
            if not macro.parameters:
                return
            macro = replace(macro, body="")
        self.macros[name] = macro
        self.passed.add(name)

    def written(self, text: str, within: frozenset[str] = frozenset(), depth: int = 0) -> str:
        """The text written out; it stands in the bodies of the macros ``within``."""
        if depth > _DEEPEST or "\\" not in text:
            return text
        here = _Place(text, latex_definitions.pairs(text), within, depth)
        kept: list[str] = []
        at = 0
        while found := _WORD.search(text, at):
            kept.append(text[at : found.start()])
            if definition := latex_definitions.read(text, found, here.pairs):
                self._define(definition)
                at = definition.end
            elif found[1]:
                piece, at = self._use(here, found)
                kept.append(piece)
            else:
                kept.append(found[0])
                at = found.end()
        return latex_source.side_by_side([*kept, text[at:]])

    def _use(self, here: _Place, found: re.Match[str]) -> tuple[str, int]:
        """What stands for the macro that is used there, and where its use ends."""
        name, at, above, within = found[1], found.end(), "", here.within
        if "@" in name[1:] and name not in self.macros:
            name = name[: name.index("@", 1)]
            at = found.start(1) + len(name)
        while (macro := self.macros.get(name)) and macro.readable and name not in within:
            taken = latex_definitions.arguments(macro, here.text, at, here.pairs)
            if taken is None:
                break
            at, within = taken[1], within | {name}
            body = self._filled(macro, [self._inner(here, argument) for argument in taken[0]])
            last = latex_definitions.last_name(body)
            if last is None or not self._takes_more(last):
                written = above + self.written(body, within, here.depth + 1)
                return _set_apart(written, here.text[at : at + 1]), at
            above += self.written(body[: body.rindex("\\")], within, here.depth + 1)
            name = last
        if name in within:
            return f"{above}\\{_DONE}{name}", at
        return self._left_alone(here, name, at, above)

    def _takes_more(self, name: str) -> bool:
        """Whether a macro at the end of a body takes what follows the use."""
        macro = self.macros.get(name)
        return macro is not None and bool(macro.parameters)

    def _inner(self, here: _Place, text: str) -> str:
        """What stands inside a use, written out."""
        self._spend(len(text))
        return self.written(text, here.within, here.depth + 1)

    def _filled(self, macro: Macro, arguments: Sequence[str]) -> str:
        """The macro's body with its arguments in their places."""
        taken = sum(len(a) * macro.body.count(f"#{n}") for n, a in enumerate(arguments, 1))
        self._spend(1 + len(macro.body) + taken)
        pieces: list[str] = []
        at = 0
        for place in _PLACE.finditer(macro.body):
            if place[0][0] == "\\":
                continue
            pieces.append(macro.body[at : place.start()])
            pieces.append(arguments[int(place[1]) - 1] if place[1] else "#")
            at = place.end()
        return latex_source.side_by_side([*pieces, macro.body[at:]])

    def _left_alone(self, here: _Place, name: str, at: int, above: str) -> tuple[str, int]:
        """A macro whose meaning nobody tells: its groups stand apart, or two numbers were one."""
        groups: list[str] = []
        if here.pairs.get(at) in here.pairs and not self._is_known(name):
            while at in here.pairs:
                groups.append(f"{{{self._inner(here, here.text[at + 1 : here.pairs[at] - 1])}}}")
                at = here.pairs[at]
        return f"{above}\\{name}{' '.join(groups)}", at

    def _is_known(self, name: str) -> bool:
        known = self.known
        return name in known.held or name in known.silent or known.is_known(name)

    def _spend(self, size: int) -> None:
        self.room -= size
        if self.room < 0:
            raise self.too_much()

    def too_much(self) -> InputError:
        """Says that there is no end to it."""
        return InputError(f"{self.name}: its macros write out too much text; give its PDF or text")


@dataclass(frozen=True)
class _Place:
    """A text that is written out, and where it comes from."""

    text: str
    pairs: dict[int, int]
    within: frozenset[str]
    depth: int


def _set_apart(written: str, following: str) -> str:
    """In braces, as one thing, unless it opens what it does not end or may take what follows."""
    if latex_source.ends_in_a_name(written):
        return written + ("{}" if following.isalpha() or following.isspace() else "")
    signs = Counter("".join(found) for found in _SWITCHES.findall(written))
    whole = signs["begin"] == signs["end"] and not signs["$"] % 2
    whole = whole and signs["["] == signs["]"] and signs["("] == signs[")"]
    return f"{{{written}}}" if whole else written
