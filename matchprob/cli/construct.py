"""The verb that tunes normalization layers: construct."""

from __future__ import annotations

import io
import math
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from algebra.time_limits import limited, positive_seconds
from matchprob.cli.options import (
    UNFINISHED,
    Json,
    answer,
    say,
)
from matchprob.verbs import parameters as common
from matchprob.verbs.verb import LineArgument, LineOption


def construct(
    target: Annotated[Path, LineArgument()],
    frozen: Annotated[Path | None, LineArgument()] = None,
    width: Annotated[list[int] | None, LineOption(least=1)] = None,
    density: float = 1.0,
    exact: bool = False,
    second_scales: bool = False,
    skip: Annotated[int | None, LineOption(metavar="K", least=1)] = None,
    radius: float = 1.0,
    out: Annotated[Path | None, LineOption(metavar="FILE")] = None,
    timeout: common.Timeout = math.inf,
    seed: common.Seed = 0,
    as_json: Json = False,
) -> None:
    """Make a frozen network equal to a target by its scales and shifts alone.

    Parameters
    ----------
    target : Path
        Target network: .npz with W1, b1, W2, …
    frozen : Path, optional
        Frozen network: .npz with W1, …, W2l; random by default.
    width : list of int, optional
        Hidden width of a random network (one for each layer).
    density : float, optional
        Fraction of nonzero weights of a random network.
    exact : bool, optional
        Compute rationals with error 0 instead of doubles with a proved bound.
    second_scales : bool, optional
        Tune the even layers' scales too.
    skip : int, optional
        Use depth instead of width: feed K inputs to each layer (Theorem 2).
    radius : float, optional
        Radius of the ball of inputs.
    out : Path, optional
        Write scales and shifts (.npz).
    """
    import numpy as np

    from algebra.errors import InputError
    from algebra.normalization.hidden_orders import NotRealized
    from algebra.normalization.reconstruct import TooNarrow
    from algebra.normalization.scales import Unreachable
    from matchprob.api import construct as constructing
    from matchprob.io import files
    from matchprob.report.impossible import unrealized

    file = shlex.quote(str(target))
    limit = positive_seconds(timeout, "timeout")
    if out and out.suffix != ".npz":
        raise InputError(f"--out {out}: the name must end in .npz")
    files.check_outputs([target, frozen], out)
    if skip is not None:
        for given, option in (
            (frozen, "a frozen network"),
            (width, "--width"),
            (out, "--out"),
            (density != 1, "--density"),
            (second_scales, "--second-scales"),
        ):
            if given:
                raise InputError(f"--skip {skip} draws its layers at random: remove {option}")
        build = (
            constructing.construct_by_depth_exactly if exact else constructing.construct_by_depth
        )
        with limited(limit):
            found = build(str(target), skip, seed=seed, radius=radius)
        answer(found.to_dict(), found.document(), file, as_json=as_json)
        return
    try:
        with limited(limit):
            made = constructing.construct(
                str(target), None if frozen is None else str(frozen), width=width or None,
                seed=seed, density=density, exact=exact, second_scales=second_scales,
                radius=radius,
            )  # fmt: skip
    except (Unreachable, TooNarrow, NotRealized) as failure:
        document, data = unrealized(failure)
        answer({**data, "seed": seed}, document, file, as_json=as_json)
        which = "scales and shifts"
        if isinstance(failure, Unreachable):
            which = "scales" if second_scales else "scales of the odd layers"
        elif isinstance(failure, NotRealized):
            which = "rational scales were found that"
        say(f"matchprob: no {which} realize this target with this frozen network")
        raise typer.Exit(UNFINISHED) from None
    answer({**made.to_dict(), "seed": seed}, made.document(), file, as_json=as_json)
    if out:
        arrays: dict[str, Any] = {f"W{j}": W for j, W in enumerate(made.frozen, 1)}
        for j, (scale, shift) in enumerate(zip(made.scales, made.shifts, strict=True), 1):
            arrays |= {f"g{j}": scale, f"b{j}": shift}
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        files.write_bytes(out, buffer.getvalue())
        say(f"wrote {out}")
