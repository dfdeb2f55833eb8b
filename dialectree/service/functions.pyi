# Made of the declarations by dialectree.service.functions.stub(); a test keeps it in step.

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel

from dialectree.flow.human_input import Ask
from dialectree.records import RunRecord
from dialectree.running.runner import Watch

__all__ = [
    "aanswer",
    "acompare",
    "adecide",
    "answer",
    "averify",
    "compare",
    "decide",
    "verify",
]

def verify(
    claim: str,
    *,
    breadth: int = 1,
    depth: int = 1,
    blend: float = 0.5,
    strength_rule: Literal["win_rate", "bradley_terry"] = "win_rate",
    semantics: Literal["dfquad", "quadratic_energy", "euler"] = "dfquad",
    root_strength: Literal["neutral", "estimated"] = "neutral",
    ties: Literal["ignore", "half"] = "ignore",
    judge_orders: Literal["one", "both"] = "one",
    prune_below: float | None = None,
    trees: int = 1,
    model: str | BaseChatModel = "local:smollm2",
    roles: Mapping[str, str | BaseChatModel] = ...,
    base_url: str | None = None,
    seed: int = 0,
    concurrency: int = 32,
    requests_per_minute: float | None = None,
    call_deadline: float = 300,
    prompt_form: Literal["auto", "small", "full"] = "auto",
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_seconds: float | None = None,
    max_cost: float | None = None,
    prices: Mapping[str, tuple[float, ...]] = ...,
    cache: bool = True,
    replay: bool = False,
    method_name: Literal["art", "argllm", "direct", "cot"] = "art",
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
) -> RunRecord:
    """Grow arguments for and against a claim; say how probable they make it.

    Returns the record of the debate, which also lies in a folder of its own in ``runs``. A setting
    that is left out comes from the environment (``DIALECTREE_...``), from dialectree.toml, or is
    the default shown here.

    Args:
        claim: A statement that is true or false, not a question.
        breadth: Supporters, and attackers, of one argument.
        depth: Levels of arguments below the claim.
        blend: Weight of the tournament against the intrinsic strengths (lambda): 1 is the
            tournament alone, 0 has none.
        strength_rule: What an argument's comparisons make of it: its mean win rate against the
            other side, or a Bradley-Terry fit of 100 steps, which is the paper's.
        semantics: How strengths carry upward.
        root_strength: The claim's own strength: 0.5, or what the scorer says.
        ties: A tie counts for nobody, or half for each.
        judge_orders: Compare each pair once, or in either order.
        prune_below: Arguments weaker than this take no part, nor does what hangs below them; none:
            all do.
        trees: Independent trees; the claim's strength is the mean of theirs.
        model: The model of every role that has none of its own.
        roles: A model of its own for a role, by the role's name.
        base_url: Address of the OpenAI-compatible endpoint, for specs that name none.
        seed: Fixes the debate's own draws, and is part of every request.
        concurrency: Requests under way at once, in the whole process.
        requests_per_minute: Requests started per minute, in the whole process; none: no limit.
        call_deadline: Seconds that one call may take, its retries included.
        prompt_form: How models are asked: with the whole prompt (full), or in a form for small
            models (small).
        max_calls: Budget of calls to models.
        max_tokens: Budget of prompt and completion tokens together.
        max_seconds: Budget of wall-clock seconds.
        max_cost: Budget of money, in the unit of ``prices``.
        prices: Price of a million prompt and a million completion tokens, by spec.
        cache: Answer a request that was made before from the reply cache.
        replay: Answer from the reply cache alone; a request that it does not hold is an error.
        method_name: The protocol itself, or a baseline or an ablation of it.
        runs: The folder of all runs. DIALECTREE_RUNS counts before the default.
        ask: A function that answers where the settings let a person take part.
        watch: A function that gets every event as it happens.
        progress: Whether to show what goes on. None: in notebooks only.

    Raises:
        InputError: An argument is wrong (a ValueError), or there is no such one (a TypeError).
        ModelUnavailable: There is no model to talk to.
        Halted: A budget is used up; ``dialectree.resume(error.run_id)`` goes on.
    """

async def averify(
    claim: str,
    *,
    breadth: int = 1,
    depth: int = 1,
    blend: float = 0.5,
    strength_rule: Literal["win_rate", "bradley_terry"] = "win_rate",
    semantics: Literal["dfquad", "quadratic_energy", "euler"] = "dfquad",
    root_strength: Literal["neutral", "estimated"] = "neutral",
    ties: Literal["ignore", "half"] = "ignore",
    judge_orders: Literal["one", "both"] = "one",
    prune_below: float | None = None,
    trees: int = 1,
    model: str | BaseChatModel = "local:smollm2",
    roles: Mapping[str, str | BaseChatModel] = ...,
    base_url: str | None = None,
    seed: int = 0,
    concurrency: int = 32,
    requests_per_minute: float | None = None,
    call_deadline: float = 300,
    prompt_form: Literal["auto", "small", "full"] = "auto",
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_seconds: float | None = None,
    max_cost: float | None = None,
    prices: Mapping[str, tuple[float, ...]] = ...,
    cache: bool = True,
    replay: bool = False,
    method_name: Literal["art", "argllm", "direct", "cot"] = "art",
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
) -> RunRecord:
    """Run :func:`verify` in a program with an event loop; the arguments are the same."""

def decide(
    question: str,
    options: list[str] | None = None,
    gold: str | None = None,
    *,
    candidates: Literal["proposed", "knockout", "oracle", "balanced"] = "proposed",
    distractor: Literal["first", "random", "model"] = "first",
    cross_examination: Literal["in_turn", "simultaneous"] = "in_turn",
    judge_orders: Literal["one", "both"] = "one",
    gate: int = 0,
    allow_uncertain: bool = False,
    judge: Literal["model", "me"] = "model",
    samples: int | None = None,
    model: str | BaseChatModel = "local:smollm2",
    roles: Mapping[str, str | BaseChatModel] = ...,
    base_url: str | None = None,
    seed: int = 0,
    concurrency: int = 32,
    requests_per_minute: float | None = None,
    call_deadline: float = 300,
    prompt_form: Literal["auto", "small", "full"] = "auto",
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_seconds: float | None = None,
    max_cost: float | None = None,
    prices: Mapping[str, tuple[float, ...]] = ...,
    cache: bool = True,
    replay: bool = False,
    method_name: Literal[
        "rsd", "no_role_switch", "no_uncertainty", "basic", "self_consistency", "judge_alone"
    ] = "rsd",
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
) -> RunRecord:
    """Let two debaters argue for an answer each, switch sides and own up; a judge decides.

    Returns the record of the debate, which also lies in a folder of its own in ``runs``. A setting
    that is left out comes from the environment (``DIALECTREE_...``), from dialectree.toml, or is
    the default shown here.

    Args:
        question: One question, in full.
        options: The answers to choose from, 2 to 26, or none where the question is open.
        gold: The right option's letter; for evaluations only.
        candidates: Where the two candidates come from.
        distractor: The wrong option that stands against the gold one: the first, one drawn from the
            seed, or the one that the debaters' model finds most plausible.
        cross_examination: Whether the second debater reads the first one's rebuttal before it
            writes its own.
        judge_orders: Ask the judge once, or with both sides in either order.
        gate: Direct answers that are asked for first; if all agree there is no debate.
        allow_uncertain: Let the judge rule that neither side convinced.
        judge: Who judges: a model, or the person who asks.
        samples: Samples of ``self_consistency`` (none: 9, the calls of one debate).
        model: The model of every role that has none of its own.
        roles: A model of its own for a role, by the role's name.
        base_url: Address of the OpenAI-compatible endpoint, for specs that name none.
        seed: Fixes the debate's own draws, and is part of every request.
        concurrency: Requests under way at once, in the whole process.
        requests_per_minute: Requests started per minute, in the whole process; none: no limit.
        call_deadline: Seconds that one call may take, its retries included.
        prompt_form: How models are asked: with the whole prompt (full), or in a form for small
            models (small).
        max_calls: Budget of calls to models.
        max_tokens: Budget of prompt and completion tokens together.
        max_seconds: Budget of wall-clock seconds.
        max_cost: Budget of money, in the unit of ``prices``.
        prices: Price of a million prompt and a million completion tokens, by spec.
        cache: Answer a request that was made before from the reply cache.
        replay: Answer from the reply cache alone; a request that it does not hold is an error.
        method_name: The protocol itself, or a baseline or an ablation of it.
        runs: The folder of all runs. DIALECTREE_RUNS counts before the default.
        ask: A function that answers where the settings let a person take part.
        watch: A function that gets every event as it happens.
        progress: Whether to show what goes on. None: in notebooks only.

    Raises:
        InputError: An argument is wrong (a ValueError), or there is no such one (a TypeError).
        ModelUnavailable: There is no model to talk to.
        Halted: A budget is used up; ``dialectree.resume(error.run_id)`` goes on.
    """

async def adecide(
    question: str,
    options: list[str] | None = None,
    gold: str | None = None,
    *,
    candidates: Literal["proposed", "knockout", "oracle", "balanced"] = "proposed",
    distractor: Literal["first", "random", "model"] = "first",
    cross_examination: Literal["in_turn", "simultaneous"] = "in_turn",
    judge_orders: Literal["one", "both"] = "one",
    gate: int = 0,
    allow_uncertain: bool = False,
    judge: Literal["model", "me"] = "model",
    samples: int | None = None,
    model: str | BaseChatModel = "local:smollm2",
    roles: Mapping[str, str | BaseChatModel] = ...,
    base_url: str | None = None,
    seed: int = 0,
    concurrency: int = 32,
    requests_per_minute: float | None = None,
    call_deadline: float = 300,
    prompt_form: Literal["auto", "small", "full"] = "auto",
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_seconds: float | None = None,
    max_cost: float | None = None,
    prices: Mapping[str, tuple[float, ...]] = ...,
    cache: bool = True,
    replay: bool = False,
    method_name: Literal[
        "rsd", "no_role_switch", "no_uncertainty", "basic", "self_consistency", "judge_alone"
    ] = "rsd",
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
) -> RunRecord:
    """Run :func:`decide` in a program with an event loop; the arguments are the same."""

def compare(
    paper_a: str | Path | Mapping[str, Any],
    paper_b: str | Path | Mapping[str, Any],
    topic: str,
    title_a: str | None = None,
    title_b: str | None = None,
    abstract_a: str | None = None,
    abstract_b: str | None = None,
    key_a: str | None = None,
    key_b: str | None = None,
    *,
    embeddings: str = "BAAI/bge-small-en-v1.5",
    max_depth: int = 3,
    max_subtopics: int = 3,
    max_claims: int = 3,
    segments: int = 5,
    expansion_rule: Literal["reference", "paper"] = "reference",
    filter: Literal["per_claim", "per_segment"] = "per_claim",
    turns: Literal["parallel", "alternating"] = "parallel",
    model: str | BaseChatModel = "local:smollm2",
    roles: Mapping[str, str | BaseChatModel] = ...,
    base_url: str | None = None,
    seed: int = 0,
    concurrency: int = 32,
    requests_per_minute: float | None = None,
    call_deadline: float = 300,
    prompt_form: Literal["auto", "small", "full"] = "auto",
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_seconds: float | None = None,
    max_cost: float | None = None,
    prices: Mapping[str, tuple[float, ...]] = ...,
    cache: bool = True,
    replay: bool = False,
    method_name: Literal[
        "tod", "no_tree", "no_self_deliberation", "single_stage", "two_stage"
    ] = "tod",
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
) -> RunRecord:
    """Let two papers debate a topic, part by part; say what they share and what not.

    Returns the record of the debate, which also lies in a folder of its own in ``runs``. A setting
    that is left out comes from the environment (``DIALECTREE_...``), from dialectree.toml, or is
    the default shown here.

    Args:
        paper_a: A file (PDF, .txt, .md, .tex, .json) or an arXiv id such as 2502.14767.
        paper_b: The other paper, given in the same ways.
        topic: What to compare them on.
        title_a: Title of paper a, where its file does not show it.
        title_b: Title of paper b, where its file does not show it.
        abstract_a: Abstract of paper a; without one its opening stands in its place.
        abstract_b: Abstract of paper b; without one its opening stands in its place.
        key_a: BibTeX key of paper a.
        key_b: BibTeX key of paper b.
        embeddings: What retrieves: a sentence-transformers model by name, path or installed
            package, ``openai:NAME@URL``, or ``bm25``.
        max_depth: Depth at which no topic is split any more.
        max_subtopics: Subtopics of one topic (k).
        max_claims: Claims of one paper about one topic.
        segments: Segments of a paper that are retrieved at once (delta).
        expansion_rule: When a topic is split.
        filter: Whether one call weighs all the segments that may answer a claim, or one call each.
        turns: Whether paper b's persona sees what a's said in the same stage (alternating).
        model: The model of every role that has none of its own.
        roles: A model of its own for a role, by the role's name.
        base_url: Address of the OpenAI-compatible endpoint, for specs that name none.
        seed: Fixes the debate's own draws, and is part of every request.
        concurrency: Requests under way at once, in the whole process.
        requests_per_minute: Requests started per minute, in the whole process; none: no limit.
        call_deadline: Seconds that one call may take, its retries included.
        prompt_form: How models are asked: with the whole prompt (full), or in a form for small
            models (small).
        max_calls: Budget of calls to models.
        max_tokens: Budget of prompt and completion tokens together.
        max_seconds: Budget of wall-clock seconds.
        max_cost: Budget of money, in the unit of ``prices``.
        prices: Price of a million prompt and a million completion tokens, by spec.
        cache: Answer a request that was made before from the reply cache.
        replay: Answer from the reply cache alone; a request that it does not hold is an error.
        method_name: The protocol itself, or a baseline or an ablation of it.
        runs: The folder of all runs. DIALECTREE_RUNS counts before the default.
        ask: A function that answers where the settings let a person take part.
        watch: A function that gets every event as it happens.
        progress: Whether to show what goes on. None: in notebooks only.

    Raises:
        InputError: An argument is wrong (a ValueError), or there is no such one (a TypeError).
        ModelUnavailable: There is no model to talk to.
        Halted: A budget is used up; ``dialectree.resume(error.run_id)`` goes on.
    """

async def acompare(
    paper_a: str | Path | Mapping[str, Any],
    paper_b: str | Path | Mapping[str, Any],
    topic: str,
    title_a: str | None = None,
    title_b: str | None = None,
    abstract_a: str | None = None,
    abstract_b: str | None = None,
    key_a: str | None = None,
    key_b: str | None = None,
    *,
    embeddings: str = "BAAI/bge-small-en-v1.5",
    max_depth: int = 3,
    max_subtopics: int = 3,
    max_claims: int = 3,
    segments: int = 5,
    expansion_rule: Literal["reference", "paper"] = "reference",
    filter: Literal["per_claim", "per_segment"] = "per_claim",
    turns: Literal["parallel", "alternating"] = "parallel",
    model: str | BaseChatModel = "local:smollm2",
    roles: Mapping[str, str | BaseChatModel] = ...,
    base_url: str | None = None,
    seed: int = 0,
    concurrency: int = 32,
    requests_per_minute: float | None = None,
    call_deadline: float = 300,
    prompt_form: Literal["auto", "small", "full"] = "auto",
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_seconds: float | None = None,
    max_cost: float | None = None,
    prices: Mapping[str, tuple[float, ...]] = ...,
    cache: bool = True,
    replay: bool = False,
    method_name: Literal[
        "tod", "no_tree", "no_self_deliberation", "single_stage", "two_stage"
    ] = "tod",
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
) -> RunRecord:
    """Run :func:`compare` in a program with an event loop; the arguments are the same."""

def answer(
    question: str,
    *,
    depth_profile: Literal["adaptive", "fixed", "safety"] = "adaptive",
    max_depth: int | None = None,
    min_depth: int = 1,
    max_nodes: int = 85,
    max_children: int = 4,
    stop_threshold: float = 0.75,
    leaf_rounds: int = 3,
    synthesis_rounds: int = 2,
    second_pass_below: float | None = None,
    second_pass_leaves: int = 1,
    leaf_protocol: str = "debate",
    leaf: Mapping[str, Any] = ...,
    samples: int | None = None,
    model: str | BaseChatModel = "local:smollm2",
    roles: Mapping[str, str | BaseChatModel] = ...,
    base_url: str | None = None,
    seed: int = 0,
    concurrency: int = 32,
    requests_per_minute: float | None = None,
    call_deadline: float = 300,
    prompt_form: Literal["auto", "small", "full"] = "auto",
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_seconds: float | None = None,
    max_cost: float | None = None,
    prices: Mapping[str, tuple[float, ...]] = ...,
    cache: bool = True,
    replay: bool = False,
    method_name: Literal["tsd", "single_shot", "best_of_n", "two_round"] = "tsd",
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
) -> RunRecord:
    """Split a question into a tree, debate its leaves and merge the verdicts upward.

    Returns the record of the debate, which also lies in a folder of its own in ``runs``. A setting
    that is left out comes from the environment (``DIALECTREE_...``), from dialectree.toml, or is
    the default shown here.

    Args:
        question: One question, in full.
        depth_profile: Stop where the questions are easy, split every branch to ``max_depth``, or
            stop where they are easy but never above ``min_depth``.
        max_depth: Depth at which every question is a leaf; none: 3, or 2 if ``depth_profile`` is
            fixed.
        min_depth: Depth above which the safety profile does not stop; the other profiles have no
            such floor.
        max_nodes: Questions in the tree, the root included.
        max_children: Questions that one question is split into.
        stop_threshold: A question whose parts are all less difficult than this is a leaf.
        leaf_rounds: Rounds of a leaf debate.
        synthesis_rounds: Rounds of a synthesis debate.
        second_pass_below: Visit the least certain leaves again when the final confidence is lower;
            none: never.
        second_pass_leaves: Leaves that a second pass visits.
        leaf_protocol: How a leaf is settled: by TSD's own debate (debate), or by another protocol:
            rsd, a role-switching debate; art, an argument tree (yes-or-no questions only; others
            are debated).
        leaf: A setting of the protocol that settles the leaves, such as rsd.judge_orders=both.
        samples: Samples of ``best_of_n`` (none: 5).
        model: The model of every role that has none of its own.
        roles: A model of its own for a role, by the role's name.
        base_url: Address of the OpenAI-compatible endpoint, for specs that name none.
        seed: Fixes the debate's own draws, and is part of every request.
        concurrency: Requests under way at once, in the whole process.
        requests_per_minute: Requests started per minute, in the whole process; none: no limit.
        call_deadline: Seconds that one call may take, its retries included.
        prompt_form: How models are asked: with the whole prompt (full), or in a form for small
            models (small).
        max_calls: Budget of calls to models.
        max_tokens: Budget of prompt and completion tokens together.
        max_seconds: Budget of wall-clock seconds.
        max_cost: Budget of money, in the unit of ``prices``.
        prices: Price of a million prompt and a million completion tokens, by spec.
        cache: Answer a request that was made before from the reply cache.
        replay: Answer from the reply cache alone; a request that it does not hold is an error.
        method_name: The protocol itself, or a baseline or an ablation of it.
        runs: The folder of all runs. DIALECTREE_RUNS counts before the default.
        ask: A function that answers where the settings let a person take part.
        watch: A function that gets every event as it happens.
        progress: Whether to show what goes on. None: in notebooks only.

    Raises:
        InputError: An argument is wrong (a ValueError), or there is no such one (a TypeError).
        ModelUnavailable: There is no model to talk to.
        Halted: A budget is used up; ``dialectree.resume(error.run_id)`` goes on.
    """

async def aanswer(
    question: str,
    *,
    depth_profile: Literal["adaptive", "fixed", "safety"] = "adaptive",
    max_depth: int | None = None,
    min_depth: int = 1,
    max_nodes: int = 85,
    max_children: int = 4,
    stop_threshold: float = 0.75,
    leaf_rounds: int = 3,
    synthesis_rounds: int = 2,
    second_pass_below: float | None = None,
    second_pass_leaves: int = 1,
    leaf_protocol: str = "debate",
    leaf: Mapping[str, Any] = ...,
    samples: int | None = None,
    model: str | BaseChatModel = "local:smollm2",
    roles: Mapping[str, str | BaseChatModel] = ...,
    base_url: str | None = None,
    seed: int = 0,
    concurrency: int = 32,
    requests_per_minute: float | None = None,
    call_deadline: float = 300,
    prompt_form: Literal["auto", "small", "full"] = "auto",
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_seconds: float | None = None,
    max_cost: float | None = None,
    prices: Mapping[str, tuple[float, ...]] = ...,
    cache: bool = True,
    replay: bool = False,
    method_name: Literal["tsd", "single_shot", "best_of_n", "two_round"] = "tsd",
    runs: str | Path = "runs",
    ask: Ask | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
) -> RunRecord:
    """Run :func:`answer` in a program with an event loop; the arguments are the same."""
