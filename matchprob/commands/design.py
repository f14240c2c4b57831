"""The verb that chooses an allocation: design."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from matchprob.commands.common import Json, NetworkFile, Plot, Seed, console, print_json, say


def design(
    problem: NetworkFile,
    goal: Annotated[
        str, typer.Option(help="cheapest, or spread: the fullest row as empty as can be.")
    ] = "cheapest",
    budget: Annotated[
        int | None, typer.Option(help="Weights that learn; as many as equations by default.")
    ] = None,
    costs: Annotated[
        list[str] | None,
        typer.Option(metavar="MATRIX=FILE", help="Costs of a matrix's weights (CSV); 1 each."),
    ] = None,
    must: Annotated[
        list[str] | None,
        typer.Option(metavar="MATRIX=FILE", help="Weights that learn in any case (0/1 CSV)."),
    ] = None,
    row_cap: Annotated[int | None, typer.Option(help="At most so many in a row.", min=0)] = None,
    column_cap: Annotated[
        int | None, typer.Option(help="At most so many in a column.", min=0)
    ] = None,
    matrix_cap: Annotated[
        int | None, typer.Option(help="At most so many in a matrix.", min=0)
    ] = None,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the result as a problem file.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write its certificate (JSON).")
    ] = None,
    plot: Plot = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Choose the cheapest allocation that is not minimal, among the [learnable] weights."""
    from matchprob import api, designs, files, plots

    if plot:
        plots.check_target(plot)
    for target in (write, out):
        if target:
            files.check_target(target)
    caps = {"row": row_cap, "column": column_cap, "matrix": matrix_cap}
    found, made = designs.design(
        problem,
        goal=goal,
        budget=budget,
        costs=designs.read_costs(costs or []),
        must=designs.read_cells(must or []),
        caps={line: number for line, number in caps.items() if number is not None},
        seed=seed,
    )
    certificate = api.certify(made, seed=seed) if out else None
    if as_json:
        print_json({**found.to_dict(), "seed": seed})
    else:
        designs.print_design(console(), found)
    if write:
        files.write_text(write, made.to_toml())
        say(f"wrote {write}")
    if out and certificate:
        files.write_text(out, certificate.to_json())
        say(f"wrote {out}: {certificate.verdict}, {certificate.rule}")
    if plot:
        plots.save(designs.draw(problem, found), plot)
        say(f"wrote {plot}")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(design)
