"""Read the file with the calibrations of a protocol's confidences.

``dialectree eval calibrate --save`` writes it from an evaluation. Each calibration in the
file is valid only for one protocol, one method, one table of models and one source of the confidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from dialectree.errors import InputError, fault_line
from dialectree.protocols.calibrated_figure import Calibration, FileModel
from dialectree.protocols.routes import read_small_file, without_address

SCHEMA: Final = "dialectree.calibration/1"


class CalibrationFile(FileModel):
    """A file of calibrations."""

    schema_: Literal["dialectree.calibration/1"] = Field(default=SCHEMA, alias="schema")
    data: str = ""
    """The name of the data set."""
    calibrations: Annotated[list[Calibration], Field(min_length=1)]


def read_calibrations(path: str | Path) -> CalibrationFile:
    """Return the calibrations in a file; raise InputError, in one line, for any other file."""
    again = "write it again with dialectree eval calibrate DIR --save FILE"
    try:
        data = read_small_file(path)
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"`calibration` {path}: the file cannot be read: {why}") from None
    try:
        return CalibrationFile.model_validate_json(data)
    except ValidationError as error:
        fault = fault_line(error)
        complaint = f"is not a file of {SCHEMA}" if fault.startswith("schema") else "cannot be read"
        raise InputError(f"`calibration` {path}: it {complaint} ({fault}): {again}") from None


def calibrations_for(
    path: str | Path, protocol: str, method: str, models: Mapping[str, str]
) -> list[Calibration]:
    """Return the calibrations in a file that fit a run, one for each source of a confidence.

    Args:
        path: the file.
        protocol: the protocol of the run, by name.
        method: the protocol or one of its variants.
        models: the model of each role that speaks in the run.

    Raises InputError, which names the difference, where no calibration fits.
    """
    calibrations = read_calibrations(path).calibrations
    of_method = [
        calibration
        for calibration in calibrations
        if (calibration.protocol, calibration.method) == (protocol, method)
    ]
    if not of_method:
        methods = ", ".join(dict.fromkeys(calibration.method for calibration in calibrations))
        raise InputError(
            f"`calibration` {path}: it is for {methods}, but this run uses {method}: "
            "calibrate that, or leave `calibration` out"
        )
    if fitting := [calibration for calibration in of_method if not other_model(calibration, models)]:
        return fitting
    raise InputError(
        f"`calibration` {path}: it is for {other_model(of_method[0], models)}: calibrate "
        "these models, or leave `calibration` out"
    )


def other_model(calibration: Calibration, models: Mapping[str, str]) -> str:
    """Name the first role whose model differs from the calibration's; "" if all agree.

    Example: ``judge openai:a, and this is openai:b``.
    """
    for role in sorted({*calibration.models, *models}):
        ours, theirs = (_spoke(of.get(role, "none")) for of in (calibration.models, models))
        if ours != theirs:
            return f"{role} {ours}, and this is {theirs}"
    return ""


def _spoke(specs: str) -> str:
    """Return the models of a role without addresses; in a contested run, a role may have several models."""
    return ", ".join(dict.fromkeys(map(without_address, specs.split(", "))))


def calibration_of(
    source: str, calibrations: Sequence[Calibration], models: Mapping[str, str]
) -> Calibration | str:
    """Return the calibration of a confidence from ``source``, or the reason why it is missing.

    ``models`` are the models that spoke: a contest may have asked another model.
    """
    source_calibration = next(
        (calibration for calibration in calibrations if calibration.source == source), None
    )
    if source_calibration is None:
        sources = ", ".join(calibration.source for calibration in calibrations)
        return f"the calibration is of {sources}, but this confidence is of {source}"
    mismatch = other_model(source_calibration, models)
    return f"the calibration is for {mismatch}" if mismatch else source_calibration


def calibrate(
    verdict: Mapping[str, Any], calibrations: Sequence[Calibration], models: Mapping[str, str]
) -> dict[str, Any]:
    """Return a verdict's calibrated confidence, or a note that says why it is missing."""
    source = verdict["confidence_source"] or "unknown"
    calibration = calibration_of(source, calibrations, models)
    if isinstance(calibration, str):
        return {"notes": [*verdict["notes"], f"not calibrated: {calibration}"]}
    before, after = calibration.brier.before.value, calibration.brier.after.value
    figures = {"brier_before": before, "brier_after": after}
    return {
        "calibrated": {"confidence": calibration.figure(verdict["confidence"]), "n": calibration.n, **figures}
    }
