"""``dialectree answer``: debate a question."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dialectree.cli import flags
from dialectree.cli.flags import given


def answer(
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")],
    method: flags.Method = "tsd",
    model: flags.Model = None,
    role: flags.Role = None,
    base_url: flags.BaseUrl = None,
    seed: flags.Seed = None,
    depth_profile: flags.Profile = None,
    max_depth: flags.MaxDepth = None,
    min_depth: flags.MinDepth = None,
    max_nodes: flags.MaxNodes = None,
    max_children: flags.MaxChildren = None,
    stop_threshold: flags.StopThreshold = None,
    leaf_rounds: flags.LeafRounds = None,
    synthesis_rounds: flags.SynthesisRounds = None,
    second_pass_below: flags.SecondPassBelow = None,
    second_pass_leaves: flags.SecondPassLeaves = None,
    ask: flags.AskPerson = None,
    concurrency: flags.Concurrency = None,
    requests_per_minute: flags.RequestsPerMinute = None,
    call_deadline: flags.CallDeadline = None,
    max_calls: flags.MaxCalls = None,
    max_tokens: flags.MaxTokens = None,
    max_seconds: flags.MaxSeconds = None,
    max_cost: flags.MaxCost = None,
    price: flags.Price = None,
    cache: flags.Cache = None,
    replay: flags.Replay = None,
    runs: flags.Runs = Path("runs"),
    json: flags.Json = False,
    quiet: flags.Quiet = False,
) -> None:
    """Debate a question and print the verdict."""
    settings = given(
        model=model,
        role=role,
        base_url=base_url,
        seed=seed,
        depth_profile=depth_profile,
        max_depth=max_depth,
        min_depth=min_depth,
        max_nodes=max_nodes,
        max_children=max_children,
        stop_threshold=stop_threshold,
        leaf_rounds=leaf_rounds,
        synthesis_rounds=synthesis_rounds,
        second_pass_below=second_pass_below,
        second_pass_leaves=second_pass_leaves,
        ask=ask,
        concurrency=concurrency,
        requests_per_minute=requests_per_minute,
        call_deadline=call_deadline,
        max_calls=max_calls,
        max_tokens=max_tokens,
        max_seconds=max_seconds,
        max_cost=max_cost,
        price=price,
        cache=cache,
        replay=replay,
    )
    from dialectree.cli import progress
    from dialectree.conduct import start
    from dialectree.context import build
    from dialectree.graphs import method as chosen

    text = sys.stdin.read() if question == "-" else question
    context = build(**settings)
    run = start(chosen(method, "tsd"), text, context, runs)
    progress.follow(run, json=json, quiet=quiet, ask=context.ask)
