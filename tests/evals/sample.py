"""Evaluations made up from a seed: several methods, categories, votes, sides and failures."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from dialectree.evals.dataset_items import DatasetPaper, Inputs, Item, Reference, Task
from dialectree.evals.results import AnswerScore, DataUsed, EvaluationFile, Result, Row, Sides, Vote
from dialectree.records import Usage, Verdict

STAMP = "2026-01-31T12:00:00.000000Z"
SHA = "ab" * 32
MODEL, OTHER = "openai:plain-8b", "openai:wide-70b"
ROLES = {
    "tsd": ("decomposer", "leaf_debater_a", "leaf_debater_b", "synthesis_judge"),
    "rsd": ("debater_a", "debater_b", "judge"),
    "art": ("supporter", "attacker", "scorer", "pairwise_judge"),
    "argllm": ("supporter", "attacker", "scorer"),
    "tod": ("persona_a", "persona_b", "moderator"),
}
TOKENS = {
    **{"tsd": 9000, "single_shot": 300, "best_of_n": 1500, "two_round": 4000},
    **{"rsd": 5200, "self_consistency": 5000, "basic": 2600, "no_uncertainty": 4100},
    **{"art": 1400, "argllm": 900, "direct": 120, "cot": 380},
    **{"tod": 60000, "single_stage": 4000, "two_stage": 7000, "no_tree": 21000},
}
CATEGORIES = ("Myths and Fairytales", "Health", "Law", "Economics", "Misconceptions", "History")
METHODS: dict[Task, dict[str, float]] = {
    "answer": {"tsd": 0.72, "single_shot": 0.58, "best_of_n": 0.61, "two_round": 0.47},
    "decide": {"rsd": 0.74, "no_uncertainty": 0.66, "basic": 0.62, "self_consistency": 0.73},
    "verify": {"art": 0.75, "argllm": 0.68, "cot": 0.70, "direct": 0.63},
    "compare": {"tod": 0.94, "no_tree": 0.75, "two_stage": 0.82, "single_stage": 0.84},
}


def row(method: str, model: str = MODEL, name: str = "", **settings: JsonValue) -> Row:
    roles = ROLES.get(method, ("answerer",))
    models = dict.fromkeys(roles, model)
    return Row(name=name or method, method=method, settings=settings, models=models)


def item(task: Task, number: int, chance: random.Random, text: str = "") -> Item:
    """A question of the task; ``text`` stands in all its texts."""
    category = CATEGORIES[int(len(CATEGORIES) * chance.random() ** 2)]
    asked = text or f"What happens in case {number} if nobody looks?"
    name = f"q{number}"
    if task == "answer":
        return Item(
            id=name,
            category=category,
            inputs=Inputs(question=asked),
            reference=Reference(
                true=(text or "Nothing at all", "Nothing"),
                false=(text or "It vanishes",),
                best=text or "Nothing at all",
            ),
        )
    if task == "decide":
        options = tuple(f"{text} option {sign}" for sign in "wxyz")
        gold = chance.choice("ABCD")
        return Item(
            id=name,
            category=category,
            inputs=Inputs(question=asked, options=options),
            reference=Reference(gold=gold),
        )
    if task == "verify":
        return Item(
            id=name,
            category=category,
            inputs=Inputs(claim=asked),
            reference=Reference(label=chance.random() < 0.5),
        )
    papers = tuple(DatasetPaper(title=text or f"Paper {side}", abstract="We did it.") for side in "ab")
    return Item(id=name, category=category, inputs=Inputs(topic=asked, papers=papers))


def result(
    task: Task,
    one: Row,
    asked: Item,
    right: bool,
    chance: random.Random,
    *,
    hardness: float = 0.5,
    text: str = "",
    votes: bool = True,
) -> Result:
    """A result that is right or not, with all that its method tells."""
    tokens = int(TOKENS.get(one.method, 1000) * (0.7 + 0.6 * chance.random()))
    usage = Usage(
        calls=max(1, tokens // 450),
        attempts=max(1, tokens // 450),
        prompt_tokens=int(tokens * 0.7),
        completion_tokens=tokens - int(tokens * 0.7),
        cost=tokens * 2e-6,
        wall_s=tokens / 900,
        critical_path_calls=max(1, tokens // 1100),
    )
    verdict, scores = _said(task, one, asked, right, chance, text)
    debate = one.method in ROLES
    vote = sides = None
    if debate and votes and task != "compare":
        before = chance.random() < (0.85 if hardness < 0.5 else 0.35)
        vote = Vote(answers=["A", "A", "B"], label="A", right=before, usage=Usage(prompt_tokens=90))
    if debate and task == "decide":
        sides = Sides(
            gold_side=chance.choice(("a", "b", None)),
            gold_position=chance.choice(("first", "second")),
            flipped=chance.random() < 0.12,
        )
    return Result(
        row=one.name,
        item=asked.id,
        category=asked.category,
        run=f"20260131-120000-{chance.getrandbits(64):016x}",
        status="answered",
        verdict=verdict,
        scores=scores,
        usage=usage,
        judging=Usage(prompt_tokens=200, completion_tokens=1),
        vote=vote,
        sides=sides,
        seconds=usage.wall_s,
        ended=STAMP,
    )


def _said(
    task: Task, one: Row, asked: Item, right: bool, chance: random.Random, text: str
) -> tuple[Verdict, list[AnswerScore]]:
    sure = min(0.99, max(0.02, chance.gauss(0.8 if right else 0.62, 0.12)))
    why = text or "because nobody looked"
    if task == "answer":
        verdict = Verdict(answer=text or "Nothing.", confidence=sure, confidence_source="judges")
        scores = [
            AnswerScore(key="truthful", score=float(right), value="scored", comment=why),
            AnswerScore(key="informative", score=float(chance.random() < 0.93), value="scored"),
        ]
    elif task == "decide":
        gold = asked.reference.gold or "A"
        label = gold if right else chance.choice([x for x in "ABCD" if x != gold])
        verdict = Verdict(answer=text or "it", label=label, confidence=sure, rationale=why)
        scores = [AnswerScore(key="choice", score=float(right), value="scored")]
    elif task == "verify":
        truth = bool(asked.reference.label)
        says = truth == right
        spread = 0.13 if one.method == "art" else 0.05
        chance_of = min(1.0, max(0.0, chance.gauss(0.5 + (0.22 if says else -0.22), spread)))
        if (chance_of > 0.5) != says:
            chance_of = 1 - chance_of
        tree = one.method in ("art", "argllm")
        verdict = Verdict(
            answer=text or str(says),
            label=str(says),
            confidence=chance_of if tree else None,
            confidence_source="P(claim)" if tree else None,
        )
        scores = [AnswerScore(key="claim_label", score=float(right), value="scored")]
    else:
        verdict = Verdict(answer=text or "Both do it. Only one says so.")
        base = METHODS["compare"].get(one.method, 0.8)
        scores = [
            AnswerScore(key=key, score=25.0 * round(4 * min(1, chance.gauss(base, 0.15))), value="scored")
            for key in ("breadth", "contextualisation")
        ]
        scores.append(
            AnswerScore(key="factuality", score=100 * min(1, chance.gauss(base, 0.05)), value="scored")
        )
    return verdict, scores


def rows(task: Task, models: Iterable[str] = (MODEL,)) -> list[Row]:
    """Every method of the task with every model."""
    named = list(models)
    return [
        row(method, model, name=f"{method} · {model}" if len(named) > 1 else "")
        for model in named
        for method in METHODS[task]
    ]


def results(
    task: Task,
    over: Sequence[Row],
    items: Sequence[Item],
    seed: int = 0,
    shares: Mapping[str, float] | None = None,
    **settings: object,
) -> list[Result]:
    """Results in which hard questions are hard for all, and a few runs fail or say nothing."""
    chance = random.Random(f"results {seed}")
    found: list[Result] = []
    known = {**METHODS[task], **(shares or {})}
    for asked in items:
        hardness = chance.random()
        for one in over:
            share = known.get(one.method, 0.6) + (0.05 if OTHER in one.models.values() else 0)
            right = chance.random() < min(1, max(0, share + 0.5 * (0.5 - hardness)))
            made = result(task, one, asked, right, chance, hardness=hardness, **settings)  # type: ignore[arg-type]
            found.append(_spoilt(made, chance.random()))
    return found


def _spoilt(made: Result, drawn: float) -> Result:
    if drawn < 0.01:
        return made.model_copy(
            update={"status": "failed", "fault": "no reply", "verdict": None, "scores": []}
        )
    if drawn < 0.03:
        none = [s.model_copy(update={"score": 0.0, "value": "unanswered"}) for s in made.scores]
        said = {"status": "unresolved", "verdict": Verdict(), "scores": none}
        return made.model_copy(update=said)
    if drawn < 0.045 and any(score.key == "truthful" for score in made.scores):
        hazy = made.scores[0].model_copy(update={"score": None, "value": "unparsed"})
        return made.model_copy(update={"scores": [hazy, *made.scores[1:]]})
    return made.model_copy(update={"status": "degraded"}) if drawn > 0.98 else made


def items(task: Task, n: int, seed: int = 0, text: str = "") -> list[Item]:
    chance = random.Random(f"items {seed}")
    return [item(task, number, chance, text) for number in range(1, n + 1)]


def write(
    folder: Path,
    task: Task,
    over: Sequence[Row],
    asked: Sequence[Item],
    found: Iterable[Result],
    **fields: object,
) -> Path:
    """A finished evaluation's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    values: dict[str, object] = {
        "data": DataUsed(name="made-up", sha256=SHA, count=len(asked)),
        "task": task,
        "items": [one.id for one in asked],
        "rows": list(over),
        "started": STAMP,
        "ended": STAMP,
        "judge": "openai:judge-1b" if task in ("answer", "compare") else None,
        **fields,
    }
    evaluation = EvaluationFile.model_validate(values)
    (folder / "evaluation.json").write_text(evaluation.model_dump_json(indent=1), "utf-8")
    lines = [one.model_dump_json() for one in asked]
    (folder / "items.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    with open(folder / "results.jsonl", "w", encoding="utf-8") as file:
        file.writelines(f"{one.model_dump_json()}\n" for one in found)
    return folder


def evaluation(
    folder: Path,
    task: Task = "answer",
    n: int = 40,
    models: Iterable[str] = (MODEL,),
    seed: int = 0,
    text: str = "",
    **fields: object,
) -> Path:
    """All at once."""
    asked, over = items(task, n, seed, text), rows(task, models)
    return write(folder, task, over, asked, results(task, over, asked, seed, text=text), **fields)
