"""What a person may change of what was said: each wish, checked against the run it contests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import JsonValue

from dialectree import comparison, turns
from dialectree.contests import forms, leaf_arguments
from dialectree.contests.wishes import Drop, Flip, Replace, Restore, Rule, Set, Void, Wish
from dialectree.errors import InputError
from dialectree.nodes.answers import letter
from dialectree.nodes.role_switching_debate.judge import UNCERTAIN
from dialectree.protocol import Phase, phase_of
from dialectree.records import Held, Node, RunRecord, Spot, Turn, topic_of
from dialectree.report.words import outcome_of
from dialectree.user_input import tidy


class Changing:
    """The changes of a contest while its wishes are read."""

    def __init__(self, old: RunRecord, rulings: Mapping[str, str]) -> None:
        self.old = old
        self._rulings = rulings
        """What the person who judges ruled, by node; empty for none."""
        held = old.contest.held if old.contest is not None else []
        self.held = {change.key(): change for change in held}
        """By what makes each the one it is: a node may be dropped and hold a verdict."""
        self.changes: list[str] = []
        """In words."""
        self.ruled: dict[str, str] = {}
        """What the person who judges rules instead, by node; empty for none."""
        self.touched: set[str] = set()
        """The nodes where something changes."""
        self.to_rule: set[str] = set()
        """The nodes where the person who judges has to rule again; a gate alone may need nobody."""
        self._gate_alone = True
        self._wished: set[str] = set()
        self._turns = {
            turns.name(node, turn): (node, turn)
            for node in old.tree.nodes.values()
            for turn in node.transcript
        }

    def fulfil(self, wish: Wish) -> None:
        """Take up one wish; InputError where the run cannot fulfil it."""
        match wish:
            case Replace(name, text):
                change = self._replaced(name, text)
            case Rule(name, text):
                change = self._ruled(name, text)
            case Drop(name):
                change = self._dropped(name)
            case Restore(name, ""):
                change = self._restored(name)
            case Set() | Flip() | Void() | Restore() if leaf_arguments.grown(self.old):
                change = self._argued(wish)
            case _:
                raise self._unknown(wish)
        if change.id in self._wished:
            raise InputError(f"{change.id}: two changes of one thing; give one")
        self._wished.add(change.id)
        self.touched |= {spot.node for spot in change.spots}
        self._gate_alone &= all(spot.stage == "direct" for spot in change.spots)

    def _unknown(self, wish: Wish) -> InputError:
        flag, known = f"--{type(wish).__name__.lower()}", "--replace, --drop, --verdict"
        if leaf_arguments.grown(self.old):
            known += ", --set, --flip, --void"
        of = self.old.protocol
        return InputError(
            f"{flag}: that is for runs of art; a run of {of} knows {known} and --restore"
        )

    def _argued(self, wish: Set | Flip | Void | Restore) -> Held:
        """A strength or a comparison in an argument tree at a leaf."""
        match wish:
            case Set(name, tau):
                earlier = self.held.get((name, "", "set"))
                return self._hold(leaf_arguments.strength(self.old, name, tau, earlier))
            case Restore(one, other):
                for name in (f"{one}:{other}", f"{other}:{one}"):
                    if (name, "", "out") in self.held:
                        return self._restored(name)
                raise InputError(f"--restore {one}:{other}: it was not voided")
            case Flip(one, other):
                change = leaf_arguments.comparison(self.old, "flip", one, other)
                if change.key() in self.held:  # flipped back
                    self.changes.append(comparison.in_words(change))
                    return self.held.pop(change.key())
                return self._hold(change)
            case Void(one, other):
                return self._hold(leaf_arguments.comparison(self.old, "void", one, other))

    def _hold(self, change: Held) -> Held:
        """From here on ``change`` holds."""
        self.held[change.key()] = change
        self.changes.append(comparison.in_words(change))
        return change

    def settled(self) -> list[Held]:
        """What holds. Changes at one place make one reply: what was said, and all that they set."""
        held = [*self.held.values()]
        return [change if change.own is None else _merged(change, held) for change in held]

    def _own(self, at: Spot, turn: Turn) -> dict[str, JsonValue]:
        """What was said at a place before any person changed it."""
        for change in self.held.values():
            if at in change.spots and change.own is not None:
                said = zip(change.spots, change.owns, strict=False)
                return next((own for place, own in said if place == at), change.own)
        return turn.fields

    def _turn(self, flag: str, name: str) -> tuple[Node, Turn, Phase]:
        """The turn called ``name``, and what may be changed of it."""
        if (name, "", "out") in self.held:
            raise InputError(f"{flag} {name}: it is dropped; --restore brings it back")
        if outcome_of(self.old) == "comparison" and re.fullmatch(r"[ab]:[0-9]+", name):
            raise InputError(f"{flag} {name}: no segment of that number was retrieved in the run")
        if re.fullmatch(r"[0-9]+([.][0-9]+)*", name) and name not in self.old.tree.nodes:
            raise InputError(
                f"{flag} {name}: the run has no such node; dialectree show prints them"
            )
        if name not in self._turns:
            hint = self._hint(name.partition("/")[0])
            raise InputError(f"{flag} {name}: the run has no such turn; {hint}")
        node, turn = self._turns[name]
        words = turns.editable(self.old.protocol, turn)
        if words is None or forms.form(self.old.protocol, turn) is None:
            raise InputError(f"{flag} {name}: its reply is no text that could be changed")
        return node, turn, words

    def _hint(self, node: str) -> str:
        named = (name for name, (at, turn) in self._turns.items() if at.id == node)
        known = [
            name
            for name in named
            if turns.editable(self.old.protocol, self._turns[name][1]) is not None
        ]
        if known:
            return f"at that node there are {', '.join(known)}"
        such = "0.1/a1/revise" if outcome_of(self.old) == "comparison" else "0.1/A2"
        return f"dialectree show --node prints their ids, such as {such}"

    def _replaced(self, name: str, text: str) -> Held:
        if self._said_by_segment(name) is not None:
            return self._segment("--replace", name, tidy(text, "text"))
        wished, field = name, ""
        if name not in self._turns and name.rpartition("/")[0] in self._turns:
            name, _, field = name.rpartition("/")
        node, turn, words = self._turn("--replace", name)
        field = field or words.editable[0]
        fields = [name for name in (*words.editable, *words.switches) if name in turn.fields]
        if field not in fields:
            known = ", ".join(fields)
            raise InputError(f"--replace {name}/{field}: it has no such text; it has {known}")
        switch, said = field in words.switches, tidy(text, "text")
        before = _YES_OR_NO[turn.fields[field] is True] if switch else str(turn.fields[field])
        if switch and said not in _YES_OR_NO:
            raise InputError(f"--replace {name}/{field} {said[:80]!r}: say yes or no")
        if before == said:
            raise InputError(f"--replace {name}: nothing to change, it says that already")
        change = {field: said == "yes" if switch else said}
        at = spot(node, turn)
        own = self._own(at, turn)
        key = (name, "" if field == words.editable[0] else field, "replaced")
        if change[field] == own.get(field) and self._alone(key, at, field):
            return self._taken_back(self.held[key], wished)
        reply = forms.changed(self.old.protocol, turn, change, f"--replace {name}")
        held = self._hold(
            Held(
                id=name,
                what="replaced",
                field=key[1],
                spots=[at],
                reply=reply,
                before=before,
                after=said,
                own=own,
                changed={field: reply[field]},
            )
        )
        if not switch and reply.get("concedes") is True:
            self.changes[-1] += f", which still concedes (--replace {name}/concedes no)"
        return held

    def _alone(self, key: tuple[str, str, str], at: Spot, field: str) -> bool:
        """Whether the change of ``key``, and no other one, sets ``field`` of what is said there."""
        set_by = [k for k, c in self.held.items() if at in c.spots and field in c.changed]
        return set_by == [key]

    def _dropped(self, name: str) -> Held:
        if name in self.old.tree.nodes:
            return self._hold(self._without(self.old.tree.nodes[name]))
        if self._said_by_segment(name) is not None:
            return self._segment("--drop", name, None)
        node, turn, words = self._turn("--drop", name)
        if not words.optional and words.withdrawn is None:
            raise InputError(f"--drop {name}: the debate cannot do without it; --replace it")
        reply = None
        if words.withdrawn is not None:
            fitting = {n: v for n, v in words.withdrawn.items() if n in turn.fields}
            reply = forms.changed(self.old.protocol, turn, fitting, f"--drop {name}")
        before = turn.fields.get(words.editable[0])
        spots = [spot(node, turn)]
        return self._hold(
            Held(id=name, what="dropped", spots=spots, reply=reply, before=str(before or ""))
        )

    def _segment(self, flag: str, name: str, text: str | None) -> Held:
        """A segment of evidence: another text, or none. It has no place; whoever retrieves asks.

        ``before`` of one that was replaced more than once is the paper's own text.
        """
        if (name, "", "out") in self.held:
            raise InputError(f"{flag} {name}: it is dropped; --restore brings it back")
        before = self._said_by_segment(name)
        if text == before:
            raise InputError(f"{flag} {name}: nothing to change, it says that already")
        earlier = self.held.get((name, "", "replaced"))
        if earlier is not None and text is not None:
            if text == earlier.before:
                return self._taken_back(earlier, name)
            before = earlier.before
        reply: dict[str, JsonValue] | None = None if text is None else {"text": text}
        what: Literal["dropped", "replaced"] = "dropped" if text is None else "replaced"
        held = Held(id=name, what=what, spots=[], reply=reply, before=before, after=text)
        return self._hold(held)

    def _said_by_segment(self, name: str) -> str | None:
        """The text of a segment that was retrieved, or that a person wrote; None for all else."""
        if name in self.old.tree.segments:
            return self.old.tree.segments[name].text
        written = self.held.get((name, "", "replaced"))
        return written.after if written is not None and not written.spots else None

    def _without(self, node: Node) -> Held:
        """A part of the question that is answered without."""
        flag = f"--drop {node.id}"
        if (node.id, "", "out") in self.held or node.dropped:
            raise InputError(f"{flag}: it is dropped already")
        if node.parent is None:
            raise InputError(f"{flag}: it is the whole debate, not a part of it")
        if node.kind == "argument":
            return leaf_arguments.without(node)
        if node.kind == "claim" and self.old.tree.nodes[node.parent].kind == "claim":
            raise InputError(f"{flag}: it is a whole tree of arguments; name one of them")
        if outcome_of(self.old) == "choice":
            raise InputError(f"{flag}: the debate cannot do without it; name a turn of it")
        before = node.verdict.answer if node.verdict else ""
        return Held(id=node.id, what="dropped", spots=[Spot(node=node.id)], before=before)

    def _restored(self, name: str) -> Held:
        there = [change for change in self.held.values() if name in self._names(change)]
        if there:  # what is out first, then the text that a turn is known by, then the latest
            found = max(reversed(there), key=lambda change: (change.out(), not change.field))
            if found.what == "ruled" and found.id in self._rulings:
                self.ruled[found.id] = found.before or ""
            return self._taken_back(found, name)
        raise InputError(f"--restore {name}: nothing was changed there")

    def _taken_back(self, change: Held, name: str) -> Held:
        """``change``, which a person calls ``name``, holds no more.

        Nor does a word that was put into a ruling which nobody gave.
        """
        unsaid = self._unsaid(change.id) if change.what == "ruled" else []
        del self.held[change.key()]
        for key in [k for k, c in self.held.items() if any(place in unsaid for place in c.spots)]:
            del self.held[key]
        self.changes.append(f"{name} restored")
        return change

    def _names(self, change: Held) -> list[str]:
        """What a person may call ``change``: the turn, or the very text of it that was replaced."""
        field = change.field
        if not field and change.what == "replaced" and change.id in self._turns:
            words = turns.editable(self.old.protocol, self._turns[change.id][1])
            field = words.editable[0] if words is not None else ""
        return [change.id, f"{change.id}/{field}"] if field else [change.id]

    def _ruled(self, name: str, text: str) -> Held:
        """A person's verdict in the place of a judge's."""
        flag = f"--verdict {name}"
        if name not in self.old.tree.nodes:
            raise InputError(f"{flag}: the run has no such node; dialectree show prints their ids")
        node, said = self.old.tree.nodes[name], tidy(text, "verdict")
        if name in self._rulings:
            return self._ruled_by_person(node, said, flag)
        judged = [turn for turn in node.transcript if self._rules(turn)]
        take = max((turn.take for turn in judged), default=1)
        judged = [turn for turn in judged if turn.take == take]
        if not judged:
            instead = ""
            if outcome_of(self.old) == "comparison":
                instead = "; --verdict 0 sets the comparison, --replace changes an argument"
            elif node.kind == "claim":
                instead = "; --set, --drop, --flip and --void change what it is reckoned from"
            raise InputError(f"{flag}: no judge has ruled there{instead}")
        verdict = node.verdict or (
            self.old.verdict if outcome_of(self.old) == "comparison" else None
        )
        before = verdict.answer if verdict else ""
        first = {turn.who: turn for turn in reversed(judged)}
        turn = next(iter(first.values()))
        spots = [spot(node, one) for one in first.values()]
        unsaid = self._unsaid(name)
        phase = self._rules(judged[0])
        assert phase is not None  # only turns that rule are here
        if phase.labels:
            named, answer = self._label(node, said, flag)
            last = {turn.who: turn.fields.get("label") for turn in judged}.values()
            silent = self._silent(spots)
            settled = (node.verdict is not None or named == UNCERTAIN) and not silent
            if settled and all(label == named for label in last):
                raise InputError(f"{flag}: nothing to change, {named} is the ruling already")
            change: dict[str, object] = {"label": named, "answer": answer, "confidence": None}
            change["rationale"] = _SET
            spots += silent
        else:
            own = " ".join(one.text for one in topic_of(node).sentences if one.part != "proposal")
            if said in (before, own):  # the program marks sentences in the verdict
                raise InputError(f"{flag}: nothing to change, that is the verdict already")
            assert phase.ruling is not None  # else the ruling is a label
            named, change = said, phase.ruling(said)
        reply = forms.changed(self.old.protocol, turn, change, flag)
        owns = [self._own(spot(node, one), one) for one in first.values()]
        if unsaid:
            owns = [own for place, own in zip(spots, owns, strict=True) if place not in unsaid]
            spots = [*(place for place in spots if place not in unsaid), *unsaid]
        return self._hold(
            Held(
                id=name,
                what="ruled",
                spots=spots,
                reply=reply,
                before=before,
                after=named,
                own=owns[0],
                owns=owns,
                changed={field: reply[field] for field in change},
            )
        )

    def _rules(self, turn: Turn) -> Phase | None:
        """Return the phase of ``turn`` if its role has the last word at a node there."""
        phase = phase_of(self.old.protocol, turn.role, turn.stage)
        return phase if phase is not None and (phase.labels or phase.ruling) else None

    def _setting(self, name: str) -> JsonValue:
        """Return a setting of the run, or of the protocol that settled its leaves."""
        leaf = self.old.settings.get("leaf")
        own = leaf if isinstance(leaf, dict) and name in leaf else self.old.settings
        return own.get(name)

    def _silent(self, spots: Sequence[Spot]) -> list[Spot]:
        """Where a judge of both orders failed for good, and a person's ruling holds as well."""
        if self._setting("judge_orders") != "both":
            return []
        missing = {"judge", "swapped"} - {one.who for one in spots}
        return [spots[0].model_copy(update={"who": who}) for who in missing]

    def _unsaid(self, node: str) -> list[Spot]:
        """Where a person's ruling stands in the place of one that a judge failed to give."""
        ruled = self.held.get((node, "", "ruled"))
        return ruled.spots[len(ruled.owns) :] if ruled is not None and ruled.owns else []

    def _ruled_by_person(self, node: Node, said: str, flag: str) -> Held:
        """Another ruling of the person who judges, who gives a label and no more."""
        label, _ = self._label(node, said, flag)
        if label == self._rulings[node.id]:
            raise InputError(f"{flag}: nothing to change, {label} is the ruling already")
        self.ruled[node.id] = label
        earlier = self.held.get((node.id, "", "ruled"))
        before = self._rulings[node.id] if earlier is None else earlier.before
        spots = [Spot(node=node.id)]
        return self._hold(Held(id=node.id, what="ruled", spots=spots, before=before, after=label))

    def forget(self, node: str) -> None:
        """The person is asked again at ``node``: what was put in the place of a ruling is gone.

        A changed gate shows the person nothing new.
        """
        if self._gate_alone:
            return
        self.held.pop((node, "", "ruled"), None)
        if (node, "", "out") not in self.held:
            self.to_rule.add(node)

    def _label(self, node: Node, said: str, flag: str) -> tuple[str, str]:
        """The label that ``said`` is, and the answer that bears it."""
        labels = forms.labels(self.old, node)
        if self._setting("allow_uncertain") is True:
            labels[UNCERTAIN] = UNCERTAIN
        label = said if said in labels else letter(said)
        if label not in labels:
            raise InputError(f"{flag} {said[:80]!r}: give one of {', '.join(sorted(labels))}")
        return label, labels[label]


_YES_OR_NO = ("no", "yes")
_SET = "A person set this verdict."


def _merged(change: Held, held: Sequence[Held]) -> Held:
    """``change`` with the reply that all changes at its place make, in their order."""
    reply = {**(change.own or {})}
    for other in held:
        if all(place in other.spots for place in change.spots):
            reply |= other.changed
    return change.model_copy(update={"reply": reply})


def spot(node: Node, turn: Turn) -> Spot:
    """Where ``turn`` is said."""
    said = turn.model_dump(include={"stage", "role", "round", "take", "who", "side", "label"})
    return Spot(node=node.id, **said)
