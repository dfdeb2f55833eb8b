"""What a confidence has been worth, as a record keeps it, and the part that finds it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from dialectree.system.parts import PlugPoint

CLIP = 0.01
"""A confidence counts as at least this and at most 1 less this: 0 and 1 have no finite logit."""


class FileModel(BaseModel):
    """Has the fields that it names and no other."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, allow_inf_nan=False)


class CalibratedInterval(FileModel):
    """A figure and its 95 % interval; None where the answers do not tell."""

    value: float
    low: float | None = None
    high: float | None = None


class BeforeAndAfter(FileModel):
    """A figure before and after calibration, on answers that the calibration was not fitted to."""

    before: CalibratedInterval
    after: CalibratedInterval
    difference: CalibratedInterval
    """After less before, with the interval of the pairs; less is better."""


class Calibration(FileModel):
    """What the confidences of one source are worth: Platt scaling and what it came to."""

    row: str
    """The row of the evaluation that it was fitted to."""
    protocol: str
    method: str
    """The protocol or one of its variants."""
    models: dict[str, str]
    """The model of each role, without its address."""
    source: str
    """The verdicts' ``confidence_source``."""
    a: float
    b: float
    n: Annotated[int, Field(ge=1)]
    """The answers that it was fitted to."""
    groups: Annotated[int, Field(ge=1)]
    """The questions, or the clusters of them, that these answers are of."""
    brier: BeforeAndAfter
    """The mean of (confidence − outcome)², 0 to 1."""
    ece: BeforeAndAfter
    """The expected calibration error, 0 to 1."""
    aurc: BeforeAndAfter
    """The area under risk against coverage, 0 to 1."""

    def figure(self, confidence: float) -> float:
        """Return the calibrated confidence: 1 / (1 + exp(−(a · logit(confidence) + b))).

        Platt 1999, on the logit of the confidence, which is clipped to :data:`CLIP` and 1 less it.
        """
        sure = min(max(confidence, CLIP), 1 - CLIP)
        exponent = self.a * log(sure / (1 - sure)) + self.b
        return 1 / (1 + exp(-exponent)) if exponent >= 0 else 1 - 1 / (1 + exp(exponent))


class Calibrations(Protocol):
    """The part that reads files of calibrations."""

    def calibrations_for(
        self, path: Path, protocol: str, method: str, models: Mapping[str, str]
    ) -> list[Calibration]:
        """Return the calibrations in a file that hold for a run; InputError where it has none."""
        ...

    def calibrate(
        self, verdict: Mapping[str, Any], calibrations: Sequence[Calibration], models: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return the second figure of a verdict, or a note on why there is none."""
        ...


CALIBRATIONS: PlugPoint[Calibrations] = PlugPoint("calibrations", "`calibration`")
