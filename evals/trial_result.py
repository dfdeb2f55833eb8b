"""Define the figures of a model's trial, and remarks on those that are bad or beyond chance."""

from __future__ import annotations

from math import comb

from pydantic import BaseModel

from dialectree.models.asking import PromptForm

UNLIKELY = 0.1
"""The probability by chance below which a count gets a remark."""


class Share(BaseModel, frozen=True):
    """A count among ``n`` cases; n is too small for a percentage."""

    count: int
    n: int

    def __str__(self) -> str:
        """Return ``5 of 6``."""
        return f"{self.count} of {self.n}"


class TrialResult(BaseModel, frozen=True):
    """The figures of a model's trial. After an early end they come from fewer cases."""

    model: str
    form: PromptForm
    """The form of the prompts."""
    date: str
    """UTC, in ISO 8601."""
    at_chance: bool
    """True if the model has fewer than 1 billion parameters: its answers are at chance."""
    calls: int
    """0 to 30, repairs included."""
    seconds: float
    """The length of the trial."""
    fits: Share
    """Turns with a usable reply that fits the schema."""
    repaired: Share
    """Turns with a fitting reply for which the model was asked more than once."""
    failed: Share
    """Turns without a fitting reply, even on the last try."""
    disagree: Share
    """Second speakers who disagree, see ``model_trial.disagrees``."""
    copied: Share
    """Second turns that repeat the first speaker's words, in the final reply."""
    attacks: Share
    """Attackers whose argument attacks, as the model itself rates it."""
    first_chosen: Share
    """Rulings for the answer that the judge reads first; half would be unbiased."""
    right_chosen: Share
    cut: Share
    """Texts cut at their limit; ``n`` is 0 in the full form, which has no such limit."""
    seconds_median: float | None
    """Median seconds of a call; None without calls."""
    prompt_tokens: int
    """The median number for a call, as for ``completion_tokens``."""
    completion_tokens: int
    minutes: dict[str, float]
    """Estimated minutes of a debate by protocol, at the speed of the trial's calls."""
    remarks: list[str]
    """A sentence on each figure that is bad or beyond chance."""


def chance_of(min_heads: int, n: int) -> float:
    """Return the probability, 0 to 1, of at least ``min_heads`` heads among ``n`` tosses of a coin."""
    return sum(comb(n, hits) for hits in range(min_heads, n + 1)) / float(2**n)


def find_remarks(result: TrialResult) -> list[str]:
    """Return a sentence for each figure that is bad, or beyond chance."""
    remarks: list[str] = []
    if result.at_chance:
        remarks.append("It has fewer than 1 billion parameters: its answers are at chance.")
    if 2 * result.failed.count > result.failed.n:
        remarks.append(f"Most turns have no usable reply ({result.failed}): a debate would fail.")
    elif 10 * result.failed.count > result.failed.n:
        remarks.append(f"Turns without a usable reply: {result.failed}; debates would lose parts.")
    few = "n is small"
    first, right, n = result.first_chosen.count, result.right_chosen, result.first_chosen.n
    larger_count = max(first, n - first)
    if n and (chance := min(1.0, 2 * chance_of(larger_count, n))) < UNLIKELY:
        place = "first" if first == larger_count else "second"
        remarks.append(
            f"The judge prefers the answer that stands {place}: {larger_count} of {n} rulings. By chance "
            f"one place has so many in {100 * chance:.0f} of 100 trials ({few})."
        )
    if n and chance_of(right.count, n) >= UNLIKELY:
        remarks.append(f"Its rulings may be chance: {right} right on easy questions ({few}).")
    if 3 * result.copied.count >= result.copied.n > 0:
        remarks.append(f"Second speakers copy the first one: {result.copied} ({few}).")
    if result.disagree.n and 3 * result.disagree.count < 2 * result.disagree.n:
        remarks.append(f"Few second speakers disagree: {result.disagree} ({few}).")
    if result.attacks.n and 3 * result.attacks.count < 2 * result.attacks.n:
        remarks.append(f"Few attackers attack: {result.attacks}, by its own rating ({few}).")
    if 4 * result.cut.count > result.cut.n:
        remarks.append(f"Many texts break off at their limit: {result.cut}.")
    return remarks
