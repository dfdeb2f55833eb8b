"""``dialectree eval calibrate``: calibrate confidences, with a file for later runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dialectree.interfaces.cli import evaluation_path, streams
from dialectree.interfaces.cli.evaluation_report import Folder


def calibrate(
    folder: Folder,
    row: Annotated[str | None, typer.Option(help="Only this row of the matrix.", metavar="NAME")] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the calibrations that improve the Brier score.", metavar="FILE")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Fit a calibration to an evaluation's confidences; no call is made.

    Each row and each source of a confidence gets its own calibration, from 50 answers on. With
    --calibration FILE a debate of the same method and models shows both figures. A calibration is
    saved if it improves the Brier score on answers that it was not fitted to. The exit status is 1
    if nothing is saved.
    """
    from dialectree.evals import calibration_fit
    from dialectree.evals.results_file import Folder as Results
    from dialectree.interfaces.cli.progress import demonstration

    fitted = calibration_fit.calibrate(folder, row)
    if Results(folder).require_evaluation().demonstration:
        streams.notice(demonstration())
    saved = save is not None and calibration_fit.save(save, folder, fitted)
    if json:
        print(calibration_fit.as_json(fitted))
    else:
        for line in calibration_fit.lines(fitted):
            print(line)
    if saved:
        streams.notice(f"saved: {save}")
    elif save is not None:
        streams.notice("nothing is saved: no calibration improves the Brier score")
    if not json:
        evaluation_path.after_calibration(folder, fitted, row, save if saved else None)
    if save is not None and not saved:
        raise typer.Exit(1)
