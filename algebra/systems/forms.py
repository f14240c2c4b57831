r"""The lifted forms of a network's equations: their unknowns, equations, values and size.

With r learnable weights and everything else constant, "the student's labels equal the teacher's" is
a system of polynomials.  Written out directly it has degree T (recurrent) or L (layers); with the
states kept as unknowns F it is at most quadratic.  All forms have the same solutions: F is a
function of the weights.  Each form is the network's program with some values as unknowns
(`algebra.programs.rewriting.lifted`) or, if F is a product of weights, the program with its
products multiplied from one end first.

``B`` (paper 1, Lemma 3.3), recurrent nets: F = (F_1 | … | F_T), n×Tb,

.. math:: W g_B(F) = F, \quad D F X = Y, \quad g_B(F) = (F_2 | … | F_T | B).

The matrices by which inputs enter the last state (`gathered`).

``D`` (Lemma B.7), recurrent nets: F = (F_1 | … | F_T), d×nT, g_D(F) stacks
F_2, …, F_T, D by rows:

.. math:: F_{t+1} W = F_t, \quad D W = F_T, \quad F (I_T ⊗ B) X = Y.

The matrices by which states enter the labels (`transposed`).

``forward`` (Eqs. 4.1–4.3), feed-forward nets: :math:`W_1 X = F_1`,
:math:`W_l F_{l-1} = F_l`, :math:`W_L F_{L-1} = Y`.

``backward``, feed-forward nets, the transposed form: :math:`W_L = G_L`,
:math:`G_{l+1} W_l = G_l`, :math:`G_1 X = Y`.

``sums``, nets that are no chains: F_k is the argument of the k-th function, or the value whose sign
chooses.  With an activation φ these are the pre-activations of stage k:
``M_k (φ(F_{k-1}) + B x_k) + c_k = F_k``, ``D φ(F_K) + e = Y``.

``direct``, any net: the labels themselves, without auxiliary unknowns.  If only the encoder, only
the decoder or one layer learns, it is linear.

Mixed allocations (B, W and D together; several layers) need nothing more: a learnable cell is an
unknown wherever its matrix occurs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

from algebra.errors import InputError, shown
from algebra.networks.base import STATES, Network
from algebra.networks.chain import ChainNetwork, need_chain
from algebra.networks.chain_program import DRIVES, INPUTS, READ
from algebra.networks.protocols import not_known
from algebra.polynomials.quadratic import beside, stacked
from algebra.problems.allocation import Allocation
from algebra.programs.evaluate import Arithmetic, evaluate
from algebra.programs.program import Program
from algebra.programs.rewriting import gathered, lifted, transposed

# The name of what elimination leaves of a form.
CORE = "core"

Equations = list[tuple[str, Any]]
Matrices = Mapping[str, Any]
Shapes = dict[str, tuple[int, int]]


@dataclass(frozen=True)
class MatrixEquation:
    """One equation of matrices: the values of some blocks of unknowns are these blocks.

    Attributes
    ----------
    label : str
    blocks : tuple of str
    axis : {0, 1}
        Whether the blocks' equations stand one above the other, or side by side.
    """

    label: str
    blocks: tuple[str, ...]
    axis: int = 1


@dataclass(frozen=True, eq=False)
class FormProgram:
    """A form of one network: its program with unknowns.

    Attributes
    ----------
    source : Program
    at : dict of str to int
        The blocks of unknowns, and the nodes of `source` whose values they stand for.
    program : Program
        `source`, lifted.
    unknowns : dict of str to tuple of str
        The matrices of unknowns: the blocks that stand in them side by side.
    equations : tuple of MatrixEquation
    labels : str
        Of the last equation: the labels' own.
    """

    source: Program
    at: Mapping[str, int]
    program: Program
    unknowns: Mapping[str, tuple[str, ...]]
    equations: tuple[MatrixEquation, ...]
    labels: str

    @classmethod
    def of(
        cls,
        source: Program,
        at: Mapping[str, int],
        equations: tuple[MatrixEquation, ...],
        labels: str,
        unknowns: Mapping[str, tuple[str, ...]] | None = None,
    ) -> FormProgram:
        """Lift a program; without `unknowns` each block is a matrix of its own."""
        unknowns = {name: (name,) for name in at} if unknowns is None else unknowns
        return cls(source, at, lifted(source, at), unknowns, equations, labels)

    def shape(self, block: str, batch: int) -> tuple[int, int]:
        """A block as a matrix: a column for each sample, or rows and all else."""
        node = self.source.nodes[self.at[block]]
        if node.batched:
            return node.size, batch
        rows = node.shape[0] if node.shape else 1
        return rows, node.size // rows

    def shapes(self, batch: int) -> Shapes:
        """The matrices of unknowns, of so many samples."""
        found = {}
        for name, blocks in self.unknowns.items():
            every = [self.shape(block, batch) for block in blocks]
            found[name] = every[0][0], sum(columns for _, columns in every)
        return found

    def written(
        self, arithmetic: Arithmetic[Any], given: Matrices, unknowns: Matrices, Y: Any
    ) -> Equations:
        """Label and value of each equation, as (left − right).

        Parameters
        ----------
        arithmetic : Arithmetic
            Of arrays, or `algebra.programs.residues.QuadraticArithmetic`.
        given : mapping of str to arrays
            Weights and samples as values of the program, batch axis last.
        unknowns : mapping of str to arrays
            The matrices of unknowns.
        Y : array
            Labels.
        """
        blocks, own = dict(given), {}
        for name, parts in self.unknowns.items():
            start = 0
            for part in parts:
                node = self.source.nodes[self.at[part]]
                batch = unknowns[name].shape[1] if node.batched else 1
                end = start + self.shape(part, batch)[1]
                own[part] = unknowns[name][:, start:end]
                blocks[part] = own[part].reshape((*node.shape, batch))
                start = end
        nodes = self.program.named
        found = evaluate(self.program, arithmetic, blocks, {*nodes.values(), self.program.output})
        made = []
        for equation in self.equations:
            values = [
                found[nodes[part]].reshape(own[part].shape) - own[part] for part in equation.blocks
            ]
            made.append((equation.label, (stacked, beside)[equation.axis](values)))
        return [*made, (self.labels, found[self.program.output].reshape(Y.shape) - Y)]

    def values(self, arithmetic: Arithmetic[Any], given: Matrices, batch: int) -> dict[str, Any]:
        """The matrices of unknowns of a network with these weights and samples."""
        found = evaluate(self.source, arithmetic, given, set(self.at.values()))
        return {
            name: beside([found[self.at[p]].reshape(self.shape(p, batch)) for p in parts])
            for name, parts in self.unknowns.items()
        }


@dataclass(frozen=True)
class LiftedForm:
    """One way to write the equations.

    Attributes
    ----------
    name : str
    write : callable
        Takes a network to its `FormProgram`.
    size : callable
        Auxiliary unknowns in the rows (or columns) that learn.
    """

    name: str
    write: Callable[[Any], FormProgram]
    size: Callable[[Allocation], int]

    def program(self, network: Network) -> FormProgram:
        """The form of a network; made once."""
        return _written(self, network)

    def unknowns(self, network: Network) -> Shapes:
        """The matrices of auxiliary unknowns: name to shape."""
        return self.program(network).shapes(batch_of(network))

    def __str__(self) -> str:
        return self.name


@lru_cache(maxsize=64)
def _written(form: LiftedForm, network: Network) -> FormProgram:
    return form.write(network)


def batch_of(network: Any) -> int:
    """Samples of the network's program: columns of what drives it."""
    return int(network.columns if network.chain() is not None else network.m)


def _direct(network: Network) -> FormProgram:
    return FormProgram.of(network.program(), {}, (), "Y")


def _recurrent(
    network: ChainNetwork, source: Program, named: str
) -> tuple[Program, dict[str, int]]:
    return source, {f"F{t + 1}": source.named[f"{named} {t}"] for t in range(network.steps)}


def _b(network: ChainNetwork) -> FormProgram:
    program = network.program()
    inputs = [program.named[f"{INPUTS} {t}"] for t in range(network.steps)]
    source, at = _recurrent(network, gathered(program, inputs, program.named[READ]), INPUTS)
    equation = MatrixEquation("W g_B(F) = F", tuple(at))
    return FormProgram.of(
        source, at, (equation,), f"D F {network.drive_letter} = Y", {"F": tuple(at)}
    )


def _d(network: ChainNetwork) -> FormProgram:
    program = network.program()
    drives = [program.named[f"{DRIVES} {t}"] for t in range(network.steps)]
    source, at = _recurrent(network, transposed(program, drives), STATES)
    equation = MatrixEquation("g_D(F) W = F", tuple(at), axis=0)
    return FormProgram.of(
        source, at, (equation,), f"F (I ⊗ B) {network.drive_letter} = Y", {"F": tuple(at)}
    )


def _forward(network: ChainNetwork) -> FormProgram:
    chain, source = network.chain(), network.program()
    at, symbol, made = {}, network.drive_letter, list[MatrixEquation]()
    for layer, name in enumerate(chain.steps, start=1):
        unknown = f"F{layer}"
        at[unknown] = source.named[f"{STATES} {layer - 1}"]
        made.append(MatrixEquation(f"{name} {symbol} = {unknown}", (unknown,)))
        symbol = unknown
    return FormProgram.of(source, at, tuple(made), f"{chain.output} {symbol} = Y")


def _backward(network: ChainNetwork) -> FormProgram:
    names, source = network.chain().names, transposed(network.program())
    at, symbol, made = {}, "", list[MatrixEquation]()
    for layer, name in zip(range(len(names), 0, -1), names, strict=True):
        unknown = f"G{layer}"
        value = f"{STATES} {layer - 2}" if layer > 1 else f"{INPUTS} 0"
        at[unknown] = source.named[value]
        made.append(MatrixEquation(f"{symbol}{name} = {unknown}", (unknown,)))
        symbol = f"{unknown} "
    return FormProgram.of(source, at, tuple(made), f"G1 {network.drive_letter} = Y")


def _sums(network: Network) -> FormProgram:
    source = network.program()
    at = {f"F{k}": number for k, number in enumerate(_received(source), start=1)}
    return FormProgram.of(source, at, tuple(MatrixEquation(name, (name,)) for name in at), "Y")


def _received(program: Program) -> list[int]:
    """The arguments of functions, roots, quotients and choices that depend on weights."""
    learns, found = set[int](), dict[int, None]()
    for number in sorted(program.needed({program.output})):
        node = program.nodes[number]
        weight = node.op == "block" and not node.batched
        if weight or learns.intersection(node.inputs):
            learns.add(number)
        if node.op in ("apply", "choose", "invert", "root") and node.inputs[0] in learns:
            found[node.inputs[0]] = None
    return list(found)


def _rows_of_steps(allocation: Allocation) -> int:
    network = need_chain(allocation.network)
    rows = allocation.row_counts(network.chain().steps[0])
    return sum(c > 0 for c in rows) * network.steps * network.step_inputs


def _columns_of_steps(allocation: Allocation) -> int:
    network = need_chain(allocation.network)
    columns = allocation.column_counts(network.chain().steps[0])
    return sum(c > 0 for c in columns) * network.steps * network.d


def _rows_of_layers(allocation: Allocation) -> int:
    network = need_chain(allocation.network)
    rows = (allocation.masks[name].any(axis=1).sum() for name in network.chain().steps)
    return network.columns * int(sum(rows))


def _columns_of_layers(allocation: Allocation) -> int:
    names = need_chain(allocation.network).chain().names[:-1]
    columns = (allocation.masks[name].any(axis=0).sum() for name in names)
    return allocation.network.d * int(sum(columns))


def _every(allocation: Allocation) -> int:
    return sum(map(prod, SUMS_FORM.unknowns(allocation.network).values()))


DIRECT = LiftedForm("direct", _direct, lambda allocation: 0)
SUMS_FORM = LiftedForm("sums", _sums, _every)
FORMS: dict[str, LiftedForm] = {
    form.name: form
    for form in (
        LiftedForm("B", _b, _rows_of_steps),
        LiftedForm("D", _d, _columns_of_steps),
        LiftedForm("forward", _forward, _rows_of_layers),
        LiftedForm("backward", _backward, _columns_of_layers),
        SUMS_FORM,
        DIRECT,
    )
}


def written_forms(network: Network) -> tuple[str, ...]:
    """The forms that a network's equations can be written in, whatever learns."""
    chain = network.chain()
    if chain is None:
        return SUMS_FORM.name, DIRECT.name
    return (*(("B", "D") if chain.recurrent else ("forward", "backward")), DIRECT.name)


def forms(network: Network, allocation: Allocation) -> tuple[str, ...]:
    """The lifted forms for a network and allocation; ("direct",) if none is useful.

    None are known if the equations are no polynomials.
    """
    chain = network.chain()
    if chain is None:
        return (SUMS_FORM.name,) if network.equations_are == "polynomial" else ()
    if chain.recurrent:
        lifted = chain.recurrent in allocation.matrices
        return ("B", "D") if lifted else (DIRECT.name,)
    return ("forward", "backward") if len(allocation.matrices) > 1 else (DIRECT.name,)


def known_forms(allocation: Allocation) -> tuple[str, ...]:
    """As `forms`; equations that are no polynomials are refused.

    Raises
    ------
    InputError
    """
    found = forms(allocation.network, allocation)
    if found:
        return found
    raise not_known(
        allocation.network,
        "polynomial equations",
        "the activation is no polynomial"
        if allocation.network.equations_are == "analytic"
        else "a linear network is needed: here they depend on the activation pattern, or are "
        "those of the lowered network",
    )


def form_of(allocation: Allocation, name: str) -> LiftedForm:
    """The form of this name, of a network whose equations are polynomials.

    Raises
    ------
    InputError
        Naming the forms of the network.
    """
    known_forms(allocation)
    return checked_form(allocation.network, name)


def checked_form(network: Network, name: str) -> LiftedForm:
    """The form of this name, whatever its equations are.

    Raises
    ------
    InputError
    """
    if name not in (known := written_forms(network)):
        raise unknown_form(name, known, network)
    return FORMS[name]


class TooLong(InputError):
    """A form with too many terms to be printed."""


def unknown_form(name: Any, known: Sequence[str], network: Network) -> InputError:
    """The message about a name that is not a form of a network."""
    return InputError(
        f"`form` ({shown(name)}) is no form of a {network.title} network; choose from "
        + ", ".join((CORE, *known))
    )


def preferred_forms(network: Network, allocation: Allocation) -> tuple[str, ...]:
    """The lifted forms, the one with the smaller core first.

    The B form leaves k·Tb − dm free F-unknowns (k rows that learn), the D form k_c·Td − dm (k_c
    columns); for the forward and backward forms rows and columns of the inner layers are counted
    likewise.
    """
    return tuple(sorted(forms(network, allocation), key=lambda f: FORMS[f].size(allocation)))


def preferred_form(allocation: Allocation) -> str:
    """The lifted form with the smaller core.

    Raises
    ------
    InputError
        If the equations are no polynomials.
    """
    return min(known_forms(allocation), key=lambda form: FORMS[form].size(allocation))


def core_dimension(allocation: Allocation) -> int | None:
    """Auxiliary unknowns of a recurrent net left by the linear block; None for other nets.

    k rows of W that learn have k T b of them in the B form, k columns k T d in the D form; the
    labels determine as many as there are weights.
    """
    chain = allocation.network.chain()
    if chain is None or not chain.recurrent or allocation.matrices != (chain.recurrent,):
        return None
    least = min(FORMS[name].size(allocation) for name in ("B", "D"))
    return max(0, least - allocation.size)


# With more auxiliary unknowns elimination needs gigabytes, and no Gröbner basis ends.
_BEYOND = 1_000


def beyond_counting(allocation: Allocation) -> int | None:
    """The number of core unknowns if it is too large for any time limit; otherwise None."""
    found = core_dimension(allocation)
    return found if found is not None and found > _BEYOND else None


def unknown_count(allocation: Allocation, form: str) -> int:
    """Number of unknowns of a form: learnable weights and auxiliary ones."""
    shapes = FORMS[form].unknowns(allocation.network).values()
    return allocation.size + sum(map(prod, shapes))
