"""The protocols and baselines by the names that commands and records use.

Importing this is cheap: a graph is loaded when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from dialectree.errors import InputError

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    from dialectree.context import Context


class Method(NamedTuple):
    """One way of answering: a protocol, an ablation of it or a baseline of the same task."""

    name: str
    protocol: str
    file: str
    """The graph's file."""
    roles: tuple[str, ...]
    """The roles that may be given a model of their own."""
    graph_name: str = "graph"
    prompts: tuple[str, ...] = ()
    """The folders of prompts that it speaks from; none: the one of its file's name."""

    @property
    def module(self) -> str:
        """Return where the graph is; the protocol's own is ``graph`` in the protocol's folder."""
        folder = _FOLDERS[self.protocol]
        return f"dialectree.graphs.{folder}.{'graph' if self.file == folder else self.file}"

    def graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The compiled graph."""
        graph: CompiledStateGraph[Any, Any, Any, Any]
        graph = getattr(import_module(self.module), self.graph_name)
        return graph

    def require(self, given: Mapping[str, Any], context: Context) -> None:
        """InputError where the input is none that this method can answer."""
        from dialectree.nodes.opening import require_question

        check = getattr(import_module(self.module), "require", None)
        if check is None:
            require_question(given)
        else:
            check(given, context)

    def protocols(self, context: Context) -> tuple[str, ...]:
        """Its own protocol, and the one that settles its leaves."""
        if self.name != "tsd" or context.leaf_protocol == "debate":
            return (self.protocol,)
        return (self.protocol, context.leaf_protocol)

    def speakers(self, context: Context) -> tuple[str, ...]:
        """The roles that speak with these settings."""
        others = (_LEAVES[name].roles for name in self.protocols(context)[1:])
        return (*self.roles, *(role for roles in others for role in roles))

    def prompt_folders(self, context: Context) -> tuple[str, ...]:
        """The folders of prompts that it speaks from with these settings."""
        others = (_LEAVES[name].file for name in self.protocols(context)[1:])
        return (*(self.prompts or (self.file,)), *others)


_FOLDERS = {
    "tsd": "tree_structured_debate",
    "rsd": "role_switching_debate",
    "art": "adaptive_reasoning_tree",
    "tod": "tree_of_debate",
}
_RSD = Method("rsd", "rsd", "role_switching_debate", ("debater_a", "debater_b", "judge"))
_ART = Method(
    "art",
    "art",
    "adaptive_reasoning_tree",
    ("supporter", "attacker", "scorer", "pairwise_judge"),
)
_TOD = Method("tod", "tod", "tree_of_debate", ("persona_a", "persona_b", "moderator"))
_LEAVES = {"rsd": _RSD, "art": _ART}

METHODS = {
    method.name: method
    for method in (
        Method(
            "tsd",
            "tsd",
            "tree_structured_debate",
            (
                "decomposer",
                "decomposition_judge",
                "complexity_evaluator",
                "leaf_debater_a",
                "leaf_debater_b",
                "leaf_judge",
                "synthesis_debater",
                "synthesis_judge",
                "answer_writer",
            ),
        ),
        Method("single_shot", "tsd", "single_shot", ("answerer",)),
        Method("best_of_n", "tsd", "best_of_n", ("sampler", "picker")),
        Method("two_round", "tsd", "two_round", ("explorer", "critic", "synthesiser")),
        _RSD,
        *(
            _RSD._replace(name=name, graph_name=name)
            for name in ("no_role_switch", "no_uncertainty", "basic")
        ),
        Method(
            "self_consistency",
            "rsd",
            "self_consistency",
            ("answerer",),
            prompts=("role_switching_debate",),
        ),
        Method(
            "judge_alone",
            "rsd",
            "self_consistency",
            ("judge",),
            "judge_alone",
            ("role_switching_debate",),
        ),
        _ART,
        _ART._replace(name="argllm", graph_name="argllm", roles=_ART.roles[:3]),
        Method("direct", "art", "direct", ("verifier",)),
        Method("cot", "art", "direct", ("verifier",), "cot", ("cot",)),
        _TOD,
        _TOD._replace(name="no_tree", graph_name="no_tree"),
        _TOD._replace(
            name="no_self_deliberation",
            graph_name="no_self_deliberation",
            prompts=("tree_of_debate", "no_self_deliberation"),
        ),
        Method(
            "single_stage",
            "tod",
            "comparison_baselines",
            ("comparer",),
            "single_stage",
            ("single_stage",),
        ),
        Method(
            "two_stage",
            "tod",
            "comparison_baselines",
            ("summariser", "comparer"),
            "two_stage",
            ("two_stage",),
        ),
    )
}


def method(name: str, protocol: str | None = None) -> Method:
    """The method called ``name``; InputError with the names there are."""
    known = {n: m for n, m in METHODS.items() if protocol in (None, m.protocol)}
    if name not in known:
        raise InputError(f"--method {name}: there is no such method; known: {', '.join(known)}")
    return known[name]
