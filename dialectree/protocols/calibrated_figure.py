"""Define the calibration that a record keeps, and the part that computes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from dialectree.system.parts import PlugPoint

CLIP = 0.01
"""Confidences are clipped to CLIP .. 1 - CLIP, because 0 and 1 have no finite logit."""


class FileModel(BaseModel):
    """Refuse unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, allow_inf_nan=False)


class CalibratedInterval(FileModel):
    """A figure and its 95 % interval; None where the answers are too few for an interval."""

    value: float
    low: float | None = None
    high: float | None = None


class BeforeAndAfter(FileModel):
    """A figure before and after calibration, on answers that the calibration was not fitted to."""

    before: CalibratedInterval
    after: CalibratedInterval
    difference: CalibratedInterval
    """After minus before, with the interval of the paired differences; lower is better."""


class Calibration(FileModel):
    """A calibration of the confidences of one source: Platt scaling, and its effect."""

    row: str
    """The row of the evaluation that the calibration was fitted to."""
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
    """Number of answers that the calibration was fitted to."""
    groups: Annotated[int, Field(ge=1)]
    """Number of questions, or clusters of questions, behind these answers."""
    brier: BeforeAndAfter
    """The mean of (confidence − outcome)², 0 to 1."""
    ece: BeforeAndAfter
    """The expected calibration error, 0 to 1."""
    aurc: BeforeAndAfter
    """The area under risk against coverage, 0 to 1."""

    def figure(self, confidence: float) -> float:
        """Return the calibrated confidence: 1 / (1 + exp(−(a · logit(confidence) + b))).

        Platt 1999, on the logit of the confidence, clipped to :data:`CLIP` .. 1 - CLIP.
        """
        sure = min(max(confidence, CLIP), 1 - CLIP)
        exponent = self.a * log(sure / (1 - sure)) + self.b
        return 1 / (1 + exp(-exponent)) if exponent >= 0 else 1 - 1 / (1 + exp(exponent))


class Calibrations(Protocol):
    """The part that reads files of calibrations."""

    def calibrations_for(
        self, path: Path, protocol: str, method: str, models: Mapping[str, str]
    ) -> list[Calibration]:
        """Return the calibrations in a file that fit a run; raise InputError if none does."""
        ...

    def calibrate(
        self, verdict: Mapping[str, Any], calibrations: Sequence[Calibration], models: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return the calibrated confidence of a verdict, or a note that says why it is missing."""
        ...


CALIBRATIONS: PlugPoint[Calibrations] = PlugPoint("calibrations", "`calibration`")
