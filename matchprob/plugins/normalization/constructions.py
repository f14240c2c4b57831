"""Parts of constructions: random frozen networks, construction by depth, entries of state dicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from flint import fmpq

from algebra.documents import Document, Explanation, Table, step
from algebra.errors import InputError, shown, whole_number
from algebra.plugins.normalization.dense import DenseNet, norm_bound, rational_array
from algebra.plugins.normalization.hidden_orders import NotRealized
from algebra.plugins.normalization.hidden_scales import NOT_FOUND
from algebra.plugins.normalization.khatri_rao import width_needed
from algebra.plugins.normalization.reconstruct import TooNarrow
from algebra.plugins.normalization.scales import Unreachable
from algebra.plugins.normalization.skip_blocks import SkipBlock, TunedSkipBlock, realize_by_depth
from algebra.results import Result
from algebra.words import plural
from matchprob.plugins.models.layers import read_layered_network
from numeric.plugins.normalization.construct import (
    Construction,
    construct_exactly,
    construct_in_doubles,
    forward_check,
)
from numeric.plugins.normalization.low_rank import factored
from numeric.plugins.normalization.skip_blocks import SkipConstruction, construct_depth
from numeric.trials.instances import to_double


@dataclass(frozen=True, repr=False)
class DepthConstruction(Result):
    """A target realized layer by layer with skip connections: a sequence of its layers.

    Attributes
    ----------
    layers : tuple of SkipConstruction or of TunedSkipBlock
        One for each layer of the target, without its ReLU.
    k : int
        Inputs fed to a layer.
    seed : int
    radius : float
        Radius of the ball of inputs.
    is_exact : bool
        Whether scales and shifts are rationals and the error is 0.
    """

    layers: tuple[SkipConstruction, ...] | tuple[TunedSkipBlock, ...]
    k: int
    seed: int
    radius: float
    is_exact: bool

    def __iter__(self) -> Iterator[Any]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)

    def __getitem__(self, at: int) -> Any:
        return self.layers[at]

    @property
    def error(self) -> float:
        """The proved bound of ‖f(x) − g(x)‖₂ on the ball; 0 where it is exact."""
        last = self.layers[-1]
        return last.error if isinstance(last, SkipConstruction) else 0.0

    @property
    def conditions(self) -> tuple[float, ...]:
        """The worst condition number of each layer's systems; 1 where they are solved over Q."""
        return tuple(b.condition if isinstance(b, SkipConstruction) else 1.0 for b in self.layers)

    def columns(self) -> dict[str, list[Any]]:
        """One row for each layer of the target."""
        return {
            "layer": list(range(1, len(self) + 1)),
            "steps": [len(b.scales) for b in self.layers],
            "width": [len(b.scales[0]) for b in self.layers],
            "zero_scales": [b.zero_scales for b in self.layers],
            "error_bound": [getattr(b, "error", 0.0) for b in self.layers],
            "condition": list(self.conditions),
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Frozen matrices, scales and shifts by name, rationals rounded to doubles.

        For layer j of the target V{j}, and for each of its layers i W{j}_{i}, A{j}_{i}, g{j}_{i}
        and b{j}_{i}; see `algebra.plugins.normalization.skip_blocks`.
        """
        out = {}
        for j, made in enumerate(self.layers, 1):
            block = made.block
            out[f"V{j}"] = block.output
            parts = {"W": block.mixing, "A": block.feeding, "g": made.scales, "b": made.shifts}
            for name, values in parts.items():
                out |= {f"{name}{j}_{i}": value for i, value in enumerate(values, 1)}
        return {name: to_double(value) for name, value in out.items()}

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob construct --skip``."""
        columns = self.columns()
        if self.is_exact:
            del columns["condition"]
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return {"exact": self.is_exact, "skip": self.k, "seed": self.seed, "layers": rows}

    def document(self) -> Document:
        """Its size, and its distance from the target."""
        facts = {
            "layers": len(self),
            "k": self.k,
            "exact": self.is_exact,
            "error_bound": self.error,
            "condition": max(self.conditions),
            "zero_scales": sum(b.zero_scales for b in self.layers),
            "seed": self.seed,
        }
        title = "exactly the target, in rationals, by skip connections"
        if not self.is_exact:
            title = (
                f"‖f − g‖ ≤ {self.error:.2e} on ‖x‖ ≤ {self.radius:g}, proved for the exact "
                "function of these doubles (rounding is not covered); by skip connections"
            )
        table = Table({name.replace("_", " "): v for name, v in self.columns().items()})
        return Document(title, facts, (table,), self._why())

    def _why(self) -> Explanation:
        """The explanation of a network tuned by depth."""
        frozen = sum(len(layer.scales) for layer in self.layers)
        size = (
            f"{plural(len(self), f'{len(self)} layer')} of the target became "
            f"{plural(frozen, f'{frozen} frozen layer')}, with {self.k} inputs fed to each"
        )
        if self.is_exact:
            return Explanation((f"{size}: exactly the target, in rationals.",))
        text = (
            f"{size}. For every input of length at most {self.radius:g} the outputs differ by at "
            f"most {self.error:.2e}, proved."
        )
        steps = (step("construct", "rationals, with error 0", skip=self.k, exact=True),)
        return Explanation((text,), steps=steps)


def random_frozen(
    widths: Sequence[int], hidden: Sequence[int], seed: int = 0, density: float = 1.0
) -> list[np.ndarray]:
    """Gaussian frozen matrices for a target's widths.

    The variance is 1/(expected number of kept entries in a row).

    Parameters
    ----------
    widths : sequence of int
        n_0, …, n_l of the target.
    hidden : sequence of int
        w_1, …, w_l.
    seed : int, optional
    density : float, optional
        Probability that an entry is kept; the others are 0.
    """
    if not 0 < density <= 1:
        raise InputError(f"`density` ({density!r}) must be a number above 0 and at most 1")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0xF0,)))
    sizes = [widths[0]]
    for w, n in zip(hidden, widths[1:], strict=True):
        sizes += [w, n]
    matrices = []
    for m, n in pairwise(sizes):
        W = rng.standard_normal((n, m)) / np.sqrt(max(m * density, 1.0))
        if density < 1:
            W *= rng.random((n, m)) < density
        matrices.append(W)
    return matrices


def by_width(
    target: Any,
    frozen: Any,
    width: int | Sequence[int] | None,
    density: float,
    seed: int,
    exact: bool,
    second_scales: bool,
    radius: float,
    rank: int | None = None,
) -> Construction:
    """Realize each layer of a target by two frozen ones (Theorem 1); parameters of `construct`."""
    wanted = read_layered_network(target, "target")
    layers = [layer.folded() for layer in wanted.layers]
    weights, shifts = [W for W, _ in layers], [b for _, b in layers]
    net = DenseNet.of(weights, shifts)
    own, gap = (weights, shifts), fmpq(0)
    if rank is not None:
        net, gap = factored(net, rank, rational_array([radius], "radius", 1)[0], exact)
        weights = [to_double(W) for W in net.weights]
        shifts = [to_double(b) for b in net.shifts]
    notes = [f"target: {wanted.assumed}"] if wanted.assumed else []
    unit, offsets = 2.0**-53, None
    widths = [weights[0].shape[1], *(len(W) for W in weights)]
    if frozen is None:
        hidden = hidden_widths(widths, width, second_scales)
        matrices = random_frozen(widths, hidden, seed, density)
    else:
        if width is not None or density != 1:
            raise InputError("give `frozen` or `width` and `density`, not both")
        given = read_layered_network(frozen, "frozen")
        if not given.assumed and not wanted.assumed and given.ends_in_relu != wanted.ends_in_relu:
            which = ("`frozen`", "`target`") if given.ends_in_relu else ("`target`", "`frozen`")
            raise InputError(
                f"{which[0]} has a ReLU after its last layer and {which[1]} has none: they cannot "
                "be equal"
            )
        if given.ends_in_relu and wanted.assumed:
            raise InputError(
                "`frozen` has a ReLU after its last layer, and `target` is assumed to have none: "
                "remove that ReLU, or give the target as a Sequential"
            )
        notes += [f"frozen: {given.assumed}"] if given.assumed else []
        unit = given.unit
        matrices = [layer.weight for layer in given.layers]
        offsets = [np.abs(layer.bias) + np.abs(layer.mean) for layer in given.layers]
    if exact:
        try:
            made = construct_exactly(net, matrices, radius=radius, second_scales=second_scales)
        except (Unreachable, TooNarrow) as failure:
            if not wanted.ends_in_relu:
                raise
            text = f"{failure}; but outputs that are 0 after the last ReLU may agree: no claim"
            raise NotRealized(failure.obstruction.layer, NOT_FOUND, text) from None
    else:
        made = construct_in_doubles(
            weights, shifts, matrices, radius=radius, second_scales=second_scales, unit=unit,
            offsets=offsets,
        )  # fmt: skip
    if wanted.ends_in_relu:
        # A row whose output is 0 after the last ReLU is free: nothing is proved of the network.
        made = replace(made, blocks=tuple(replace(block, impossible=0) for block in made.blocks))
    if gap != 0:
        error = fmpq(*made.error.as_integer_ratio()) + gap
        made = replace(made, error=float(np.nextafter(to_double(np.array([error]))[0], np.inf)))
    made = replace(made, ends_in_relu=wanted.ends_in_relu, assumed="; ".join(notes))
    return forward_check(*own, made)


def hidden_widths(
    widths: Sequence[int], width: int | Sequence[int] | None, second_scales: bool
) -> list[int]:
    """The hidden widths of random matrices: as given, or large enough for every target."""
    count = len(widths) - 1
    if width is None:
        return [
            width_needed(widths[k + 1], widths[k], second_scales=second_scales)
            for k in range(count)
        ]
    given = list(width) if isinstance(width, Sequence) else [width] * count
    if len(given) == 1:
        given = given * count
    if len(given) != count:
        raise InputError(f"`width` ({shown(given)}) must be one number or {count}")
    return [whole_number(w, "width", 1) for w in given]


def normalization_entries(made: Construction, frozen: Any) -> dict[str, np.ndarray]:
    """The entries of a state dict's batch normalizations that realize a construction.

    Parameters
    ----------
    made : Construction
        From `construct` with the same frozen network.
    frozen : module or state dict
        Linear layers, each with a batch normalization after it. A state dict does not contain
        ``eps`` of its normalizations: torch's default, 1e-5, is then assumed.

    Returns
    -------
    dict of str to ndarray
        ``PREFIX.weight`` and ``PREFIX.bias`` of each normalization; running statistics
        and biases of the linear layers are taken into account (Proposition 1), so the module
        must be in evaluation mode.
    """
    layers = read_layered_network(frozen, "frozen").layers
    out: dict[str, np.ndarray] = {}
    for k, (layer, scale, shift) in enumerate(zip(layers, made.scales, made.shifts, strict=True)):
        if layer.norm is None:
            raise InputError(
                f"`frozen`: linear layer {k + 1} is not followed by a batch normalization"
            )
        out[f"{layer.norm}.weight"], out[f"{layer.norm}.bias"] = layer.entries(scale, shift)
    return out


def construct_by_depth(
    target: Any, k: int = 1, *, seed: int = 0, radius: float = 1.0
) -> DepthConstruction:
    """Realize each layer of a target by ⌈q/k⌉ random layers with skip connections (Theorem 2).

    Parameters
    ----------
    target : network
    k : int, optional
        Inputs fed to a layer; its width is d·k.  With k = 1 systems are ill-conditioned
        from d ≈ 10 on, see the condition.
    seed : int, optional
        Of the random frozen matrices.
    radius : float, optional

    Returns
    -------
    DepthConstruction
        Its `error` is the proved bound, of the exact function of these doubles: rounding in its
        evaluation is not covered.

    See Also
    --------
    construct_by_depth_exactly : the same in rationals, for small targets.

    Examples
    --------
    >>> [made.zero_scales for made in construct_by_depth([[[1, 2], [3, 4]]])]
    [0]
    """
    layers = [layer.folded() for layer in read_layered_network(target, "target").layers]
    net = DenseNet.of(*zip(*layers, strict=True))
    k = whole_number(k, "k", 1, min(W.shape[1] for W in net.weights))
    made = construct_depth(
        [W for W, _ in layers], [b for _, b in layers], k, seed=seed, radius=radius
    )
    return DepthConstruction(tuple(made), k, seed, radius, is_exact=False)


def construct_by_depth_exactly(
    target: Any, k: int = 1, *, seed: int = 0, radius: float = 1.0
) -> DepthConstruction:
    """`construct_by_depth` in rationals: error 0, and Lemma 3 checked on every scale.

    Parameters
    ----------
    target : network
        Small: the rationals grow from block to block (d = 6, k = 1 takes 13 s).
    k : int, optional
    seed : int, optional
        Of the random frozen matrices: Gaussians, rounded to sixteenths, which keeps the
        rationals short.
    radius : float, optional

    Returns
    -------
    DepthConstruction

    Examples
    --------
    >>> [block.zero_scales for block in construct_by_depth_exactly([[[1, 2], [3, 4]]])]
    [0]
    """
    layers = read_layered_network(target, "target").layers
    net = DenseNet.of(*zip(*(layer.folded() for layer in layers), strict=True))
    k = whole_number(k, "k", 1, min(W.shape[1] for W in net.weights))
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x5C1B,)))

    def draw(rows: int, columns: int) -> list[list[Fraction]]:
        # Odd numbers over 16: never 0.
        odd = 2 * np.round(8 * rng.standard_normal((rows, columns))).astype(int) + 1
        return [[Fraction(int(entry), 16) for entry in row] for row in odd]

    bound = rational_array([radius], "radius", 1)[0]
    blocks = []
    for W, b in zip(net.weights, net.shifts, strict=True):
        d, q = W.shape
        steps, size = -(-q // k), d * k
        block = SkipBlock.of(
            [draw(size, size) for _ in range(steps)],
            [draw(size, k) for _ in range(steps)],
            draw(d, size),
        )
        blocks.append(realize_by_depth(W, b, block, radius=bound))
        bound = norm_bound(W.ravel()) * bound + norm_bound(b)
    return DepthConstruction(tuple(blocks), k, seed, radius, is_exact=True)
