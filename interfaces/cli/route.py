"""``dialectree eval route``: below which agreement of votes a debate pays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dialectree.interfaces.cli import evaluation_path, flags, streams


def route(
    folder: Annotated[Path, typer.Argument(help="An evaluation's folder.", metavar="DIR")],
    row: Annotated[
        str | None, typer.Option(help="The row (the only one that voted first).", metavar="ROW")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the route for vote --route.", metavar="FILE")
    ] = None,
    json: flags.Json = False,
) -> None:
    """Say below which agreement of votes a debate pays, from questions both voted on and debated.

    No call is made. Evaluate a debate with --vote-first 3, or a vote with --agree-at 1.01. A rule
    is picked on some of the questions and measured on the others. The folder gets route.html and
    route.md.
    """
    from pydantic_core import to_json

    from dialectree.evals.reporting import route_page
    from dialectree.evals.reporting.formatting import draw_table
    from dialectree.evals.results_file import replace_file
    from dialectree.evals.route_choice import Routing
    from dialectree.evals.voted_debates import read

    voted = read(folder, row)
    routing = Routing(voted.sample, voted.evaluation.seed)
    page = route_page.write(voted, routing, folder)
    if json:
        streams.print_file(to_json(route_page.as_json(voted, routing), indent=1).decode())
    else:
        sentence = route_page.sentence(routing, voted.votes)
        for text in (
            draw_table(route_page.rules_table(voted, routing)),
            *route_page.remarks(voted),
            f"{voted.answers.name}: {sentence}",
        ):
            streams.say(text)
        print(page)
    if save is not None:
        text = route_page.route(voted, routing).model_dump_json(by_alias=True, indent=1)
        replace_file(save, f"{text}\n", "compute the route again")
        streams.notice(f"saved {save}")
    if not json:
        evaluation_path.after_route(folder)
