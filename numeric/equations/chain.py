"""Linear networks with learnable cells as chains of matrix products, ready for kernels.

Every linear network here is one chain.  States ``S_0, …, S_K`` follow from
``S_k = M_k S_{k-1}``; the labels are ``Y = D Z`` with ``Z = Σ_k S_k P_k`` (or ``Z = S_K``).

============ ======= ============== ======= ================================
network      S_0     M_k            D       P_k
============ ======= ============== ======= ================================
linear RNN   B       W, k = 1 … T   D       X_{T-k} (block of b rows of X)
multi-layer  X       W_k, k < L     W_L     none, Z = S_{L-1}
estimator    X       none           W       none, Z = S_0
============ ======= ============== ======= ================================

The unknowns w are the learnable cells; the *parameters* are all other entries: fixed weights,
P (or X) and Y.

Only independent samples count: with rank X = m' < m the other columns of Y follow, for
student and teacher alike.  If a layer of width ν is narrower than both d and m', the
labels have rank ν; then ν rows and ν columns of Y are the equations, because together with a
regular leading ν×ν minor they determine a matrix of rank ν (`Chain.equations`).

Labels and samples are used in coordinates of the sample and label space in which ``P`` (or
X) has orthonormal columns and, if it does not learn, D orthonormal rows: the weights, hence
the solutions, stay the same, and the equations become well conditioned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np

from algebra.errors import InputError
from algebra.networks.chain import ChainNetwork, need_chain
from algebra.problems.allocation import Allocation
from numeric.equations.arrays import residuals
from numeric.equations.inputs import IN_M, InputsForm, inputs_form
from numeric.equations.products import FormBuilder, ProductForm, RecordedSum
from numeric.equations.system import Output, ParameterSystem, check_rank, labels_of_samples
from numeric.equations.system_forms import write_labels
from numeric.trials.instances import Instance, labels_of, stacked

# Condition of the first samples up to which others are not tried.
_WELL = 1e4
# Ratio of the sizes of samples' rows from which they are evened out.
_UNEVEN = 1e6
# Entries of states above which a chain is large: to write its tapes takes tenths of a second.
_LARGE = 100
# Kinds of learnable cells besides `IN_M`.
IN_S0 = 1
IN_D = 2


def _even(X: np.ndarray) -> np.ndarray:
    """Samples that depend on each other as these do, with rows of similar sizes.

    Rows are multiplied by powers of two if their sizes differ by much.
    """
    sizes = np.abs(X).max(axis=-1, keepdims=True)
    if not sizes.all() or (sizes.max(axis=-2) <= _UNEVEN * sizes.min(axis=-2)).all():
        return X
    return X * 2.0 ** -np.round(np.log2(sizes))


def _basis(X: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the columns of a matrix whose rows have very different sizes.

    With rows in the order of their sizes and pivoting by columns, Householder's method has small
    errors relative to each row (N. J. Higham, Accuracy and Stability of Numerical Algorithms,
    section 19.4).
    """
    import scipy.linalg

    order = np.argsort(-np.abs(X).max(axis=1))
    basis = np.empty(X.shape)
    basis[order] = scipy.linalg.qr(X[order], mode="economic", pivoting=True)[0]
    return basis


@dataclass(frozen=True)
class Chain(ParameterSystem):
    """One allocation of one linear network, laid out for the compiled kernels.

    Created by `make_chain`.  A *parameter vector* is one flat array holding, in this
    order, the distinct M matrices, S_0, D, the P_k and Y; its entries for learnable cells
    are ignored.

    Attributes
    ----------
    allocation : Allocation
    support : mapping of str to ndarray
        0/1 masks of the weights that exist.
    samples : int
        Number m' of independent samples used.
    widths : ndarray of int
        Rows of S_0, …, S_K.
    columns : int
        Columns c of every state.
    read_all : bool
        Whether ``Z = Σ_k S_k P_k`` (else ``Z = S_K``).
    m_at, p_at : ndarray of int
        Offsets of M_1, …, M_K and P_1, …, P_K in a parameter vector.
    s0_at, d_at, y_at, size : int
        Offsets of S_0, D and Y, and the length of a parameter vector.
    cells : ndarray of int, shape (r, 5)
        Kind (`IN_M`, `IN_S0`, `IN_D`), step k of M_k (0 where all steps share it), row,
        column, offset in the parameter vector.
    equations : ndarray of int, shape (r, 2)
        Row and column of Y for each equation.
    """

    allocation: Allocation
    support: Mapping[str, np.ndarray]
    samples: int
    widths: np.ndarray
    columns: int
    read_all: bool
    m_at: np.ndarray
    p_at: np.ndarray
    s0_at: int
    d_at: int
    y_at: int
    size: int
    cells: np.ndarray
    equations: np.ndarray
    offsets: dict[str, int] = field(repr=False)

    @cached_property
    def network(self) -> ChainNetwork:  # type: ignore[override]
        return need_chain(self.allocation.network)

    @property
    def unknowns(self) -> int:
        """Number r of learnable weights, which is the number of equations."""
        return len(self.cells)

    @property
    def steps(self) -> int:
        """Number K of matrices between S_0 and S_K."""
        return len(self.widths) - 1

    def pack(self, weights: Mapping[str, np.ndarray], X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """The parameter vector of weights, m' independent samples and their labels.

        Complex or real, depending on the arguments.  Samples and labels are transformed to
        orthonormal coordinates (see the module's docstring).
        """
        return self._packed(_one(weights), X[None], Y[None])[0]

    def _packed(
        self, weights: Mapping[str, np.ndarray], X: np.ndarray, Y: np.ndarray
    ) -> np.ndarray:
        """As `pack`, of several instances, along the first axis of all arrays."""
        _, length, samples = X.shape
        U = self._drives(X)
        if U.shape[1] == U.shape[2] and self.read_all:
            # With as many label columns as inputs any basis works; the identity is cheapest.
            drives = np.broadcast_to(np.eye(U.shape[1]), U.shape)
            Y = _transposed(np.linalg.solve(_transposed(U), _transposed(Y)))
        else:
            # A change of basis of the samples acts in the same way on each of their label
            # columns, so that the inputs keep the form that the kind of network requires.
            Q, R = np.linalg.qr(X)
            if R.shape[1] != R.shape[2]:
                raise InputError(f"{samples} samples of length {length} are dependent")
            drives = self._drives(Q)
            blocks = Y.reshape(len(Y), -1, samples)
            Y = _transposed(np.linalg.solve(_transposed(R), _transposed(blocks))).reshape(Y.shape)
        output = weights[self._output]
        if not self._learns(self._output) and output.shape[1] <= output.shape[2]:
            Qd, Rd = np.linalg.qr(_transposed(output))
            scale = np.abs(np.diagonal(Rd, axis1=1, axis2=2))
            least, most = scale.min(axis=1, initial=np.inf), scale.max(axis=1, initial=0)
            if (least <= 1e-12 * most).any():
                # This occurs for rational instances with small numbers.
                raise InputError(f"the rows of {self._output} are dependent: not generic")
            output, Y = _transposed(Qd), np.linalg.solve(_transposed(Rd), Y)
        parts = {**weights, "Y": Y, self._output: output, **self._driven(drives)}
        vectors = np.zeros((len(X), self.size), np.result_type(*parts.values()))
        for name, at in self.offsets.items():
            values = parts[name].reshape(len(X), -1)
            vectors[:, at : at + values.shape[1]] = values
        vectors[:, self.cells[:, 4]] = 0
        return vectors

    def parameters_of(
        self, instances: Sequence[Instance], chosen: Sequence[np.ndarray]
    ) -> np.ndarray:
        """See `ParameterSystem.parameters_of`; computed together."""
        X = np.array([one.X[:, own] for one, own in zip(instances, chosen, strict=True)])
        if all(one.is_rescaled for one in instances):
            # The sizes of the samples differ so much that labels rounded to doubles lack the
            # smaller ones: the teacher labels an orthonormal basis of the samples instead.
            X = np.array([_basis(own) for own in X])
            network = instances[0].problem.network.with_samples(X.shape[2])
            pairs = zip(instances, X, strict=True)
            Y = np.array([network.teach(one.teacher, basis) for one, basis in pairs])
        else:
            Y = labels_of_samples(self, labels_of(instances), chosen)
        return self._packed(stacked([one.weights for one in instances]), X, Y)

    def raw(
        self,
        weights: Mapping[str, np.ndarray],
        X: np.ndarray,
        Y: np.ndarray,
        keep_cells: bool = False,
    ) -> np.ndarray:
        """The parameter vector in original coordinates, any dtype, nothing rounded.

        Learnable cells are 0 unless `keep_cells`.
        """
        return self.raw_of(_one(weights), X[None], Y[None], keep_cells)[0]

    def raw_of(
        self, weights: Mapping[str, np.ndarray], X: np.ndarray, Y: np.ndarray,
        keep_cells: bool = False,
    ) -> np.ndarray:  # fmt: skip
        """See `ParameterSystem.raw_of`; computed together."""
        parts: dict[str, np.ndarray] = {**weights, "Y": Y, **self._driven(self._drives(X))}
        vectors = [np.asarray(parts[name]).reshape(len(X), -1) for name in self.offsets]
        out = np.concatenate(vectors, axis=1)
        if not keep_cells:
            out[:, self.cells[:, 4]] = 0
        return out

    def _drives(self, X: np.ndarray) -> np.ndarray:
        """The inputs that samples are driven by, of several instances."""
        # Networks cut and join rows, the first axis, and columns, the last one.
        return np.asarray(self.network.drive(X.swapaxes(0, 1))).swapaxes(0, 1)

    def _driven(self, U: np.ndarray) -> dict[str, np.ndarray]:
        """The inputs in the layout of parameter vectors: P_1, …, P_K, or S_0."""
        if not self.read_all:
            return {"X": U}
        return {"P": U.reshape(len(U), self.steps, self.columns, -1)[:, ::-1]}

    def inputs_of(self, vector: np.ndarray) -> np.ndarray:
        """The samples in a vector that `raw` made, where they drive the network unchanged."""
        at, size = self.offsets["P" if self.read_all else "X"], self.samples
        if not self.read_all:
            return vector[at : at + self.widths[0] * size].reshape(-1, size)
        blocks = vector[at : at + self.steps * self.columns * size]
        return blocks.reshape(self.steps, self.columns, size)[::-1].reshape(-1, size)

    @cached_property
    def _output(self) -> str:
        return self.network.chain().output

    @property
    def is_large(self) -> bool:
        """Whether its tapes are so long that they should serve for many roots."""
        return int(self.widths.sum()) * self.columns > _LARGE

    def _learns(self, name: str) -> bool:
        return name in self.allocation.matrices

    def independent_samples(self, X: np.ndarray) -> np.ndarray:
        """Indices of samples whose labels determine all labels (the first ones if these suffice).

        Raises
        ------
        InputError
            If X has too few independent columns.
        """
        count, X = self.samples // self._repeats, _even(X)
        drive, chosen = self.network.drive, np.arange(count)
        if X.shape[1] > count and _condition(drive(X[:, chosen])) > _WELL:
            import scipy.linalg

            # If each sample has several label columns the first of them decides.
            chosen = np.sort(scipy.linalg.qr(drive(X)[:, : X.shape[1]], pivoting=True)[2][:count])
        if not _condition(drive(X[:, chosen])) <= 1e12:
            raise InputError(
                f"the samples have rank below {self.samples}: this instance is not generic"
            )
        return chosen

    def independent_samples_of(self, instances: Sequence[Instance]) -> list[np.ndarray]:
        """See `ParameterSystem.independent_samples_of`; computed together."""
        count = self.samples // self._repeats
        X, first = _even(np.array([one.X for one in instances])), np.arange(count)
        sizes = np.linalg.svd(self._drives(X[:, :, :count]), compute_uv=False)
        good = sizes[:, 0] <= _WELL * sizes[:, -1]
        return [
            first if fine else self.independent_samples(own)
            for fine, own in zip(good.tolist(), X, strict=True)
        ]

    def label_columns(self, Y: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The labels (d×m') of the samples `chosen`, from all labels Y (d×columns), in any ring."""
        rows = Y.shape[:-1]
        return Y.reshape(*rows, self._repeats, -1)[..., chosen].reshape(*rows, -1)

    @property
    def _repeats(self) -> int:
        """Number of label columns of one sample."""
        return self.network.columns // self.network.m

    def random(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        weights, X, root = self.random_student(self.samples // self._repeats, rng)
        return self.pack(weights, X, self.network.forward(weights, X)), root

    def turned(self, parameters: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A random equivalent parameter vector: the same roots, another line to it.

        If D does not learn, its rows and those of Y are multiplied by random complex numbers
        of modulus one; else S_0 (if it does not learn) or the P_k, and Y, by a single one.
        If none of these is fixed the vector is returned unchanged.
        """
        p = np.array(parameters, complex)
        n, c, m = self.widths, self.columns, self.samples
        d = self.network.d
        kinds = set(self.cells[:, 0].tolist())
        factors = np.exp(2j * np.pi * rng.random(d))
        labels = p[self.y_at : self.y_at + d * m].reshape(d, m)
        if IN_D not in kinds:
            rows = p[self.d_at : self.d_at + d * n[-1]].reshape(d, -1)
            rows *= factors[:, None]
            labels *= factors[:, None]
        elif IN_S0 not in kinds:
            p[self.s0_at : self.s0_at + n[0] * c] *= factors[0]
            labels *= factors[0]
        elif self.read_all and m != self.steps * c:
            p[self.p_at[1] : self.p_at[-1] + c * m] *= factors[0]
            labels *= factors[0]
        return p

    @cached_property
    def learning(self) -> list[tuple[str, int, np.ndarray, np.ndarray, np.ndarray]]:
        """Learnable cells grouped by matrix.

        Each entry holds "M", "S0" or "D", the k of M_k (0 if all M_k are equal), and the
        indices, rows and columns of the cells.
        """
        kinds, steps, rows, columns, _ = self.cells.T
        names = {IN_M: "M", IN_S0: "S0", IN_D: "D"}
        groups = []
        for kind, step in sorted(set(zip(kinds.tolist(), steps.tolist(), strict=True))):
            own = np.flatnonzero((kinds == kind) & (steps == step))
            groups.append((names[kind], step, own, rows[own], columns[own]))
        return groups

    def equation_labels(self, parameters: np.ndarray) -> np.ndarray:
        """The labels (r,) of the equations, of a parameter vector."""
        Y = parameters[self.y_at :].reshape(-1, self.samples)
        return Y[tuple(self.equations.T)]

    @property
    def label_shape(self) -> tuple[int, int]:
        """Shape of Y in a parameter vector."""
        return self.network.d, self.samples

    def residuals(self, parameters: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals and Jacobians: see `numeric.equations.arrays`."""
        return residuals(self, parameters, w)

    @cached_property
    def form(self) -> ProductForm:  # type: ignore[override]
        """The labels as sums of products, with the states among the values."""
        return self._form_of(self.recorded())

    @cached_property
    def raw_form(self) -> ProductForm:  # type: ignore[override]
        """The same for parameter vectors that `raw` made: the P_k are arbitrary."""
        if not len(self.cells):
            return self._form_of(self._recorded(packed=False))
        return replace(_layout(self.network).raw_form, places=tuple(self.cells[:, 4].tolist()))

    def _form_of(self, recorded: tuple[FormBuilder, list[Output], int]) -> ProductForm:
        build, outputs, samples = recorded
        return build.form(outputs, samples, self.cells[:, 4].tolist(), self.size)

    def recorded(self) -> tuple[FormBuilder, list[Output], int]:
        """See `ParameterSystem.recorded`; for parameter vectors that `pack` made."""
        return self._recorded(packed=True)

    def recorded_singly(self) -> tuple[FormBuilder, list[RecordedSum]]:
        """The labels of the equations for parameter vectors that `raw` made, each a value."""
        build, outputs, _ = self._recorded(packed=False, single=True)
        return build, [out for out, _, _ in outputs]

    def _recorded(
        self, *, packed: bool, single: bool = False
    ) -> tuple[FormBuilder, list[Output], int]:
        """The states, and the labels of the equations.

        The samples of a value are columns of the states.  Where the P_k are not the blocks of an
        identity matrix the labels combine these columns, and each is a value of its own; all are if
        `single`.
        """
        build, m, K = FormBuilder(self.size), self.samples, self.steps
        is_plain = not self.read_all or (packed and m == K * self.columns)
        count = self.columns if is_plain and not single else 1

        def block(at: int, rows: int, columns: int, step: int = 1) -> np.ndarray:
            found = np.empty((rows, columns), object)
            for k, index in enumerate(np.ndindex(rows, columns)):
                found[index] = build.parameter(int(at) + k * step, batched=step > 1)
            return found

        def kept(sums: np.ndarray, group: int = -1) -> np.ndarray:
            return np.frompyfunc(lambda total: total.kept(group), 1, 1)(sums)

        n = self.widths.tolist()
        states = [kept(block(self.s0_at, n[0], self.columns // count, count))]
        for k in range(1, K + 1):
            states.append(kept(block(self.m_at[k], n[k], n[k - 1]) @ states[-1], k - 1))
        D = block(self.d_at, self.network.d, n[K])
        outputs = list[Output]()
        if is_plain and single:
            Y = D @ states[-1]
            outputs += [(Y[a, s], self.y_at + a * m + s, 1) for a, s in self.equations.tolist()]
        elif is_plain:
            labels = [D @ S for S in (states[:0:-1] if self.read_all else states[-1:])]
            first, place = self.equations[:, 0], self.equations[:, 1] // count
            for a, k in np.ndindex(len(D), len(labels)):
                own = int(((first == a) & (place == k)).sum())
                if own:
                    outputs.append((labels[k][a, 0], self.y_at + a * m + k * count, own))
        else:
            parts = [kept(D @ S) for S in states[1:]]
            Y = sum(
                part @ block(at, self.columns, m)
                for part, at in zip(parts, self.p_at[1:], strict=True)
            )
            outputs += [(Y[a, s], self.y_at + a * m + s, 1) for a, s in self.equations.tolist()]
        return build, outputs, count

    def labels_as_tape(self) -> tuple[np.ndarray, int, int]:
        """See `ParameterSystem.labels_as_tape`; the same for all allocations of a network."""
        layout = _layout(self.network)
        return layout.once("labels", lambda: write_labels(layout.raw_form))

    def free_inputs(self, *, labels_only: bool = False) -> InputsForm | None:
        """See `numeric.equations.inputs`."""
        return inputs_form(self, labels_only=labels_only)


def _one(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: np.asarray(value)[None] for name, value in weights.items()}


def _transposed(matrices: np.ndarray) -> np.ndarray:
    return matrices.swapaxes(1, 2)


def _condition(matrix: np.ndarray) -> float:
    """The condition number; infinite for a singular matrix.  NumPy's own takes twice as long."""
    sizes = np.linalg.svd(matrix, compute_uv=False)
    return float(sizes[0] / sizes[-1]) if sizes[-1] > 0 else np.inf


def make_chain(allocation: Allocation, support: Mapping[str, np.ndarray] | None = None) -> Chain:
    """The chain of a square, generically full-rank allocation.

    Parameters
    ----------
    allocation : Allocation
        An allocation of a linear network.
    support : mapping of str to ndarray, optional
        Structural zeros, as in `Problem.support`.

    Raises
    ------
    InputError
        If the network is not linear, the number of learnable weights differs from the
        number of independent label entries, or the Jacobian is generically singular (the
        allocation is minimal): then an instance has no roots or infinitely many.
    """
    chain = laid_out(allocation, support)
    if len(chain.cells) != len(chain.equations):
        raise InputError(
            f"{len(chain.cells)} learnable weights face {len(chain.equations)} independent label "
            "entries: only an equal number leaves finitely many roots to count; change the "
            "allocation or the number of samples `m`"
        )
    check_rank(chain)
    return chain


def laid_out(allocation: Allocation, support: Mapping[str, np.ndarray] | None = None) -> Chain:
    """The chain of any allocation of a linear network, which need not be square."""
    network = need_chain(allocation.network)
    linear, layout = network.chain(), _layout(network)
    kinds = {name: (IN_M, 0 if layout.read_all else k + 1) for k, name in enumerate(linear.steps)}
    kinds[linear.output] = (IN_D, 0)
    if layout.read_all and linear.start:
        kinds[linear.start] = (IN_S0, 0)
    cells = [
        (*kinds[name], i, j, layout.offsets[name] + i * network.shapes[name][1] + j)
        for name, i, j in allocation.cells
    ]
    return replace(
        layout, allocation=allocation, support=dict(support or {}),
        cells=np.array(cells, np.int64).reshape(-1, 5),
    )  # fmt: skip


@lru_cache(maxsize=8)
def _layout(network: ChainNetwork) -> Chain:
    """The chain of a network without learnable cells: all that allocations have in common."""
    linear = network.chain()
    offsets: dict[str, int] = {}
    at = 0

    def place(name: str, length: int) -> int:
        nonlocal at
        offsets[name] = at
        at += length
        return offsets[name]

    samples, d = network.independent_columns, network.d
    inner = list(network.inner_widths)
    if linear.recurrent and linear.start:
        [n], T, b = inner, network.steps, network.step_inputs
        widths, columns, read_all = [n] * (T + 1), b, True
        m_at = [0] + [place(linear.recurrent, n * n)] * T
        s0_at, d_at = place(linear.start, n * b), place(linear.output, d * n)
        p_start = place("P", T * b * samples)
        p_at = [0] + [p_start + k * b * samples for k in range(T)]
    else:
        q = network.step_inputs
        widths, columns, read_all = [q, *inner], samples, False
        m_at = [0] + [place(x, widths[k + 1] * widths[k]) for k, x in enumerate(linear.steps)]
        s0_at, d_at = place("X", q * samples), place(linear.output, d * widths[-1])
        p_at = [0] * len(widths)
    y_at = place("Y", d * samples)
    rank = min([d, samples, *inner])
    equations = [(a, s) for a in range(d) for s in range(samples) if a < rank or s < rank]
    return Chain(
        allocation=Allocation(network, ()),
        support={},
        samples=samples,
        widths=np.array(widths, np.int64),
        columns=columns,
        read_all=read_all,
        m_at=np.array(m_at, np.int64),
        p_at=np.array(p_at, np.int64),
        s0_at=s0_at,
        d_at=d_at,
        y_at=y_at,
        size=at,
        cells=np.zeros((0, 5), np.int64),
        equations=np.array(equations, np.int64).reshape(-1, 2),
        offsets=offsets,
    )
