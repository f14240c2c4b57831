"""The verb that makes a frozen network equal to a target by its normalization layers: construct.

Networks come as NumPy arrays, as mappings with keys ``W1``, ``b1``, … (an ``.npz`` file), as
scikit-learn multi-layer perceptrons or as torch modules and state dicts; neither library is
needed or imported.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from algebra.errors import InputError
from algebra.time_limits import limited, positive_seconds
from matchprob.verbs import parameters as common
from matchprob.verbs.verb import Arguments, LineArgument, LineOption, ResultFile, verb

if TYPE_CHECKING:
    from matchprob.plugins.normalization.constructions import DepthConstruction
    from numeric.plugins.normalization.construct import Construction


def _check_arrays(path: Path, arguments: Arguments) -> None:
    if path.suffix != ".npz":
        raise InputError(f"--out {path}: the name must end in .npz")


def _arrays(made: Construction | DepthConstruction, path: Path, arguments: Arguments) -> bytes:
    """Frozen matrices, scales and shifts."""
    import io

    import numpy as np

    buffer = io.BytesIO()
    np.savez(buffer, **made.arrays())  # type: ignore[arg-type]  # no name is that of an option
    return buffer.getvalue()


@verb(files=[ResultFile("--out", "Write scales and shifts (.npz).", _arrays, _check_arrays)])
def construct(
    target: Annotated[Any, LineArgument(word=Path, help="Target network: .npz with W1, b1, W2, …")],
    frozen: Annotated[
        Any,
        LineArgument(word=Path, help="Frozen network: .npz with W1, …, W2l; random by default."),
    ] = None,
    *,
    width: Annotated[
        int | Sequence[int] | None, LineOption(word=int, is_repeated=True, least=1)
    ] = None,
    density: float = 1.0,
    exact: bool = False,
    second_scales: bool = False,
    skip: Annotated[int | None, LineOption(metavar="K", least=1)] = None,
    rank: Annotated[int | None, LineOption(metavar="R", least=1)] = None,
    radius: float = 1.0,
    timeout: common.Timeout = math.inf,
    seed: common.Seed = 0,
) -> Construction | DepthConstruction:
    """Make a frozen network equal to a target by scales and shifts of its layers alone.

    Parameters
    ----------
    target : network
        Of depth l; see `read_layers` for the forms it may have.
    frozen : network, optional
        Of depth 2l.  Random Gaussian matrices by default.
    width : int or sequence of int, optional
        Hidden width of a random network (one for each layer).  By default enough for every target.
    density : float, optional
        Expected fraction of nonzero weights of a random network.  See Theorem 3.
    exact : bool, optional
        Compute rationals with error 0 instead of doubles with a proved bound.
    second_scales : bool, optional
        Tune the even layers' scales too.  Then n_k − 1 hidden units fewer are needed.
    skip : int, optional
        Use depth instead of width: feed K inputs to each layer (Theorem 2).  As
        `construct_by_depth` and, with `exact`, `construct_by_depth_exactly`.  The file has, for
        layer 1 of the target, V1 and for each of its layers W1_1, A1_1, g1_1, b1_1, …
    rank : int, optional
        Factor a target of one layer into two of R hidden units, so that four frozen layers of
        widths R·n_0 and R·n_1 realize it (Corollary 1).  In doubles the nearest matrix of that
        rank is realized, and `error` contains its distance.
    radius : float, optional
        Radius of the ball of inputs.

    Returns
    -------
    Construction or DepthConstruction

    Raises
    ------
    InputError
        If shapes do not fit.  With `exact`, if the width is too small, its subclasses:
        `algebra.plugins.normalization.scales.Unreachable`, with a proof, for a target of one
        layer;
        `algebra.plugins.normalization.reconstruct.TooNarrow`, with a proof, if a block has fewer
        units than the rank of the target's Jacobian;
        `algebra.plugins.normalization.hidden_orders.NotRealized` for other deep targets, whose
        `status` says what is known.

    Examples
    --------
    >>> import matchprob as mp
    >>> mp.construct([[[1, 2], [3, 4]]], exact=True).error
    0.0
    """
    from matchprob.plugins.normalization import constructions

    with limited(positive_seconds(timeout, "timeout")):
        if skip is None:
            return constructions.by_width(
                target, frozen, width, density, seed, exact, second_scales, radius, rank
            )
        for given, name in (
            (frozen is not None, "a frozen network"),
            (width is not None, "`width`"),
            (density != 1, "`density`"),
            (second_scales, "`second_scales`"),
            (rank is not None, "`rank`"),
        ):
            if given:
                raise InputError(f"`skip` ({skip}) draws its layers at random: remove {name}")
        build = constructions.construct_by_depth
        if exact:
            build = constructions.construct_by_depth_exactly
        return build(target, skip, seed=seed, radius=radius)
