"""Report the agreement below which a debate pays: sentence, table, plot, page and file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dialectree import text as words
from dialectree.errors import InputError
from dialectree.evals.intervals import Figure, Proportion
from dialectree.evals.plots import Plot, rules_plot
from dialectree.evals.reporting.formatting import Line, Table, format_signed, probability, table
from dialectree.evals.reporting.page import ReportPage, kicker, put, title, write_page
from dialectree.evals.route_choice import FOLDS, WORTH, Routing, RuleOutcome
from dialectree.evals.voted_debates import VotedDebates
from dialectree.protocols.routes import ALWAYS, NEVER, Interval, Route, RouteFigures


def sentence(routing: Routing, votes: int | None = None) -> str:
    """Return the recommendation that follows from votes and debates, as one sentence.

    ``votes`` is the number of votes on a question, if all questions have the same number. The price is
    left out if the endpoint did not report the tokens of votes.
    """
    sample, call = routing.sample, routing.call
    vote_tokens = _mean(sample.vote_tokens)
    times = f"{_mean(sample.debate_tokens) / vote_tokens:.1f} times" if vote_tokens else ""
    if call == "unknown":
        return f"cannot be told from {sample.n} questions; about {routing.needed:,} would tell"
    if call == "never":
        upper_limit = format_signed(100 * routing.at_most, 1, "+")
        price = f"{times} the tokens of the vote to debate everything, and " if times else ""
        return f"do not debate: {price}no rule gains more than {upper_limit} points (95 %)"
    if call == "everything":
        gain = routing.less(ALWAYS, NEVER)
        more = format_signed(100 * (gain.value or 0), 1)
        price = f", for {times} its tokens" if times else ""
        return f"debate everything: {more} points more right answers than the vote ({_points(gain)}){price}"
    share, difference = routing.tokens(routing.at).value or 0, routing.difference
    value, low, high = (number or 0.0 for number in difference[:3])
    how = "no difference in accuracy shown"
    if low > 0 or high < 0:
        points, direction = format_signed(100 * abs(value), 1), "more" if low > 0 else "fewer"
        how = f"{points} points {direction} right answers"
    return (
        f"debate below {below(routing.at, votes)}: {100 * share:.0f} % of the tokens, {how} "
        f"({_points(difference)})"
    )


def below(at: float, votes: int | None) -> str:
    """Return a threshold with its meaning in votes: ``0.66 (fewer than 2 of 3 votes agree)``."""
    if votes is None:
        return f"{at:g}"
    return f"{at:g} (fewer than {math.ceil(at * votes - 1e-6)} of {votes} votes agree)"


def _mean(values: Any) -> float:
    return float(values.mean())


def _points(figure: Figure) -> str:
    """Return an interval in points: ``−1.2 to +2.0 points``."""
    low, high = (format_signed(100 * (bound or 0), 1, "+") for bound in (figure.low, figure.high))
    return f"{low} to {high} points"


def format_rule_name(at: float, votes: int | None = None) -> str:
    """Return the name of a rule."""
    if at == NEVER:
        return "never debate"
    return "debate everything" if at == ALWAYS else f"debate below {below(at, votes)}"


def rules_table(voted: VotedDebates, routing: Routing) -> Table:
    """Return the table of rules, with a line for each rule."""

    def line(rule: RuleOutcome) -> Line:
        picked = rule.at == routing.at and routing.call != "unknown"
        return {
            "rule": f"{format_rule_name(rule.at, voted.votes)}{' ← recommended' * picked}",
            "accuracy": rule.accuracy,
            "paired difference, points": rule.difference,
            "debated": rule.debates,
            "tokens": rule.tokens,
            "of all tokens": _percent(routing.tokens(rule.at)),
        }

    rules = table(
        "rules",
        "Accuracy and cost of each rule",
        map(line, routing.lines),
        "Paired difference: to debating everything. Tokens: the mean of a question, and their share of "
        "the tokens of debating everything.",
        kinds={"paired difference, points": "points", "tokens": "mean"},
    )
    assert rules is not None  # there are always two rules
    return rules


def _percent(figure: Figure) -> str:
    text = f"{100 * (figure.value or 0):.0f}%"
    if figure.low is None or figure.high is None:
        return text
    return f"{text} ({100 * figure.low:.0f} to {100 * figure.high:.0f})"


def notes(voted: VotedDebates, routing: Routing) -> Iterator[str]:
    """Yield notes on the computation of the figures and on the questions left out."""
    sample, gain = routing.sample, routing.gain
    groups = len({*sample.clusters})
    clusters = f" in {groups} clusters" if groups < sample.n else ""
    yield (
        f"{words.count(sample.n, 'answer')}{clusters}, each voted on and debated; no call was made "
        "for this. A rule takes the debate's answer below its share of the votes, else the vote's."
    )
    yield from remarks(voted)
    before, after = (count / sample.n for count in (gain.both + gain.second_only, _first(gain)))
    yield (
        f"Picked by cross-fitting: {min(FOLDS, groups)} times a rule was picked on all questions "
        f"but one part, and tried on that part. There {100 * after:.1f}% were right, and "
        f"{100 * before:.1f}% by the vote (exact test, p {probability(gain.p)}); a debate is "
        "recommended only if this test shows a gain. The pick is the cheapest rule without a shown "
        "loss."
    )
    yield (
        f"Each interval is of {100 * routing.level:.1f}%, so that all {len(sample.rules)} rules "
        "together, and with them the one that is picked, have 95% (Bonferroni): by Wilson for a "
        "share, by Tango for a difference on the same questions, by bootstrap of 95% for tokens."
    )
    yield (
        f"“Do not debate” is said where a gain of {100 * WORTH:.0f} points is ruled out (95%, "
        "one-sided). The tokens of debating everything leave out the vote, which it does not need."
    )
    yield (
        "The debates were handed the answers that were voted for."
        if voted.inside
        else "The debates did not read the votes. A debate that is handed the answers that were "
        "voted for may come out differently."
    )


def remarks(voted: VotedDebates) -> Iterator[str]:
    """Yield notes on the questions left out and on the debates that count as wrong."""
    if voted.evaluation.demonstration:
        yield "A demonstration: a model below 1 billion parameters answers at chance."
    if voted.left_out:
        parts = [f"{number} {reason}" for reason, number in voted.left_out.items()]
        yield f"Left out: {words.format_list(parts)}."
    if voted.withheld:
        yield f"{words.count(voted.withheld, 'debate')} withheld an answer, which counts as wrong."


def _first(gain: Any) -> int:
    return int(gain.both + gain.first_only)


def as_json(voted: VotedDebates, routing: Routing) -> dict[str, Any]:
    """Return the recommendation and its figures as plain data."""
    return {
        "row": voted.row.name,
        "call": routing.call,
        "agree_at": routing.at if routing.call != "unknown" else None,
        "sentence": sentence(routing, voted.votes),
        "n": routing.sample.n,
        "left_out": dict(voted.left_out),
        "voters": voted.voters,
        "demonstration": voted.evaluation.demonstration,
        "figures": figures(routing).model_dump(),
        "rules": [_plain(routing, rule) for rule in routing.lines],
    }


def _plain(routing: Routing, rule: RuleOutcome) -> dict[str, Any]:
    return {
        "below": rule.at,
        "accuracy": _interval(rule.accuracy).model_dump(),
        "difference": _interval(rule.difference).model_dump(),
        "debates": _interval(rule.debates).model_dump(),
        "tokens": rule.tokens,
        "tokens_of_everything": _interval(routing.tokens(rule.at)).model_dump(),
    }


def _interval(figure: Figure | Proportion) -> Interval:
    value = figure.share if isinstance(figure, Proportion) else figure.value
    return Interval(value=value, low=figure.low, high=figure.high)


def figures(routing: Routing) -> RouteFigures:
    """Return the figures for the file of the route."""
    rule = routing.line(routing.at)
    return RouteFigures(
        accuracy=_interval(routing.accuracy),
        difference=_interval(routing.difference),
        vote=_interval(routing.line(NEVER).accuracy),
        debate=_interval(routing.line(ALWAYS).accuracy),
        tokens=routing.tokens(routing.at).value or 0.0,
        debates=rule.debates.share or 0.0,
    )


def route(voted: VotedDebates, routing: Routing) -> Route:
    """Return the route that a vote reads; raise InputError if it cannot be saved."""
    if routing.call == "unknown":
        raise InputError(f"--save: no file is written: {sentence(routing, voted.votes)}")
    method, settings, models = voted.debate()
    if method.name != method.protocol.name:
        raise InputError(
            f"--save: no file is written: a vote leads to a debate by {method.protocol.name}, and "
            f"row {voted.row.name!r} is {method.name}, a variant of it"
        )
    if not all(voted.voters) or voted.evaluation.task == "compare":
        raise InputError("--save: no file is written: the results do not say who voted")
    return Route(
        protocol=method.protocol.name,
        method=method.name,
        settings=settings,
        task=voted.evaluation.task,
        voters=voted.voters,
        models=models,
        agree_at=routing.at,
        n=routing.sample.n,
        figures=figures(routing),
        sentence=sentence(routing, voted.votes),
        data=voted.evaluation.data.name,
    )


def plot(voted: VotedDebates, routing: Routing) -> Plot:
    """Return the plot of accuracy against tokens, with a mark for each rule."""
    return rules_plot(
        [
            (format_rule_name(rule.at), rule.tokens, rule.accuracy, rule.at == routing.at)
            for rule in routing.lines
        ],
        recommended=routing.call != "unknown",
    )


def write(voted: VotedDebates, routing: Routing, out: Path) -> Path:
    """Write route.html and route.md into a folder, and return the path of the page."""
    rule_plot, models = plot(voted, routing), voted.row.models
    page = ReportPage(
        name="route",
        answer=f"{voted.answers.name}: {sentence(routing, voted.votes)}.",
        title=f"Below which agreement does a debate pay? {title(voted.study)}",
        kicker=f"Route · {kicker(voted.study)}",
        demonstration=voted.evaluation.demonstration,
        tables=[rules_table(voted, routing)],
        plots={"rules": [rule_plot]},
        notes=[*notes(voted, routing)],
        pairs=[
            ("Method", voted.answers.name),
            ("Votes by", words.format_list(dict.fromkeys(voted.voters))),
            ("Models", words.format_list(f"{role} {model}" for role, model in models.items())),
            ("SHA-256 of the data", voted.evaluation.data.sha256),
            ("Seed", str(voted.evaluation.seed)),
        ],
    )
    put(out / "report/rules.svg", rule_plot.svg)
    return write_page(page, out)
