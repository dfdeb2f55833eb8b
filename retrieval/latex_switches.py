"""What a LaTeX source switches on and off: ``\\iffalse`` and a paper's own switches."""

from __future__ import annotations

import re

_NAME_ENDS = r"(?![A-Za-z@])"
_TOKEN = re.compile(
    rf"""
    \\newif\s*\\if(?P<new>[A-Za-z@]+)
    | \\let\s*\\if(?P<let>[A-Za-z@]+)\s*=?\s*\\if(?P<to>true|false){_NAME_ENDS}
    | \\(?P<fi>fi|else){_NAME_ENDS}
    | \\if(?!f{_NAME_ENDS})(?P<asked>[A-Za-z@]*){_NAME_ENDS}
    | \\(?P<set>[A-Za-z@]+?)(?P<state>true|false){_NAME_ENDS}
    | \\.
    """,
    re.VERBOSE | re.DOTALL,
)
_ALWAYS = {"true": True, "false": False, "mmode": True}
"""In maths and out of it a macro says the same; the first way says it without dollar signs."""


def chosen(text: str, *, declared: bool = False) -> str:
    """Without what is switched off; with ``declared`` also by switches that the text declares.

    Both ways stay where only LaTeX could tell which is taken, and where a condition never ends.
    """
    tokens = _tokens(text)
    ended = _ended(tokens)
    switches, ways = dict(_ALWAYS), list[bool | None]()
    kept: list[str] = []
    at = 0
    for number, token in enumerate(tokens):
        shown = False not in ways
        if token["fi"] or token["asked"] is not None:
            if number not in ended:
                continue
            told = _turn(token, ways, switches)
        else:
            told = declared and _set(token, switches, shown)
        if shown:
            kept.append(text[at : token.start()])
        at = token.end() if told or not shown else token.start()
    return "".join([*kept, text[at:]])


def _tokens(text: str) -> list[re.Match[str]]:
    """What matters to conditions; ``\\ifname{...}`` is none unless the text declares it."""
    found = [token for token in _TOKEN.finditer(text) if token.lastgroup]
    known = {*_ALWAYS, *(token["new"] or token["let"] for token in found)}
    return [
        token
        for token in found
        if token["asked"] is None
        or token["asked"] in known
        or not text.startswith("{", token.end())
    ]


def _ended(tokens: list[re.Match[str]]) -> set[int]:
    """The numbers of the conditions that end, and of what parts and ends them."""
    ended: set[int] = set()
    open_ones: list[list[int]] = []
    for number, token in enumerate(tokens):
        if token["asked"] is not None:
            open_ones.append([number])
        elif token["fi"] and open_ones:
            open_ones[-1].append(number)
            if token["fi"] == "fi":
                ended.update(open_ones.pop())
    return ended


def _turn(token: re.Match[str], ways: list[bool | None], switches: dict[str, bool]) -> bool:
    """Into a condition, its other way, or out of it; whether it is told which way is taken."""
    if token["asked"] is not None:
        ways.append(switches.get(token["asked"]))
        return ways[-1] is not None
    way = ways.pop()
    if token["fi"] == "else":
        ways.append(None if way is None else not way)
    return way is not None


def _set(token: re.Match[str], switches: dict[str, bool], shown: bool) -> bool:
    """Declares or sets a switch; whether the token is one that does."""
    name = token["new"] or token["let"] or token["set"]
    if token["set"] and (name not in switches or name in _ALWAYS):
        return False
    if shown:
        switches[name] = (token["to"] or token["state"]) == "true"
    return True
