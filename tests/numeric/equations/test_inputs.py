"""The equations in the free inputs, against those of the chain."""

import numpy as np
import pytest

from matchprob import Allocation, LinearFeedForward, LinearRNN
from numeric.equations.chain import make_chain
from numeric.equations.inputs import inputs_form
from tests.numeric.equations.cases import labels_at

NET = LinearRNN(n=8, T=4, b=1, d=4, m=4)


def allocation(*columns: str, network: LinearRNN = NET) -> Allocation:
    """One string of column digits for each row of W."""
    cells = [("W", i, int(j)) for i, text in enumerate(columns) for j in text]
    return Allocation.from_cells(network, cells)


# Rows of four drop out; the second net has b = 2 and e = 2.
CASES = [
    allocation("1357", "0257", "14", "046", "067"),
    allocation("146", "235", "057", "126", "0347"),
    allocation(
        "12", "014", "035", "13", "27", network=LinearRNN(n=10, T=2, b=2, d=3, m=4)
    ),
]  # fmt: skip
# Their numbers of solutions.
COUNTS = [12, 24, 18]


def equations(form, vector, x):
    """The equations of the module's docstring, expanded."""
    n, T, b, e = form.shape
    at = (T + 1) * n * b
    F = vector[:at].reshape(T + 1, n, b).copy()
    beta = vector[at : at + T * n * e].reshape(T, n, e)
    W = vector[at + T * n * e :].reshape(-1, n).copy()
    W[form.cells[:, 0], form.cells[:, 1]] = x[: len(form.cells)]
    u = x[len(form.cells) :].reshape(T, e, b)
    for k in range(1, T + 1):
        F[k] += sum(beta[k - 1 - j] @ u[j] for j in range(k))
    return np.concatenate(
        [
            (W[i] @ F[k - 1] - F[k, row]).ravel()
            for i, row in enumerate(form.rows)
            for k in range(1, T + 1)
        ]
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_root_of_the_chain_is_a_root_here(case):
    """Residuals vanish, and the weights come back, those of whole rows too."""
    chain = make_chain(case)
    form = inputs_form(chain)
    assert form is not None
    parameters, root = chain.random(np.random.default_rng(0))
    at = form.reduce(parameters)
    x = form.unknowns_of(at, root[None])
    assert form.unknowns == x.shape[1] == len(form.rows) * form.shape[1] * form.shape[2]
    assert np.abs(equations(form, at.vector, x[0])).max() < 1e-12
    assert np.abs(form.weights_of(at, x) - root).max() < 1e-12


@pytest.mark.parametrize("case", CASES, ids=str)
def test_time_has_its_unit(case):
    """The same net with W a thousand times as large is the same instance here."""
    chain = make_chain(case)
    form = inputs_form(chain)
    n, T, b, e = form.shape
    parameters, root = chain.random(np.random.default_rng(2))
    W = slice(chain.m_at[1], chain.m_at[1] + n * n)
    parameters[W] *= 1024
    # The labels of the larger student.
    parameters[chain.y_at :] = labels_at(chain, parameters, root * 1024).ravel()
    at = form.reduce(parameters)
    beta = at.vector[(T + 1) * n * b : (T + 1) * n * b + T * n * e].reshape(T, -1)
    assert at.unit < 1 / 100
    assert np.ptp(np.log2(np.linalg.norm(beta, axis=1))) < 2 * T
    x = form.unknowns_of(at, root[None] * 1024)
    assert np.abs(equations(form, at.vector, x[0])).max() < 1e-11
    assert np.abs(form.weights_of(at, x) - root * 1024).max() < 1e-8


@pytest.mark.parametrize("case", CASES, ids=str)
def test_generic_parameters_come_from_a_network(case):
    """The map from a chain's parameters has full rank: lines stay among generic instances.

    Its differential, by differences, in directions that keep the root; up to the gauge of the
    inputs (α may absorb multiples of β, β a change of basis).
    """
    chain = make_chain(case)
    form = inputs_form(chain)
    n, T, b, e = form.shape
    rng = np.random.default_rng(1)
    parameters = chain.random(rng)[0]
    at = form.reduce(parameters)
    images = []
    for _ in range(2 * form.size):
        change = rng.standard_normal(chain.size)
        change[chain.cells[:, 4]] = 0
        moved = form.reduce(parameters + 1e-6 * change)
        # The basis V is chosen by the decomposition: transformed to the first instance's.
        G = moved.V.conj().T @ at.V
        vector = moved.vector.copy()
        beta = slice((T + 1) * n * b, (T + 1) * n * b + T * n * e)
        vector[beta] = (vector[beta].reshape(-1, e) @ G).ravel()
        images.append((vector - at.vector) * 1e6)
    beta0 = at.vector[(T + 1) * n * b :][: T * n * e].reshape(T, n, e)
    for k in range(1, T + 1):
        for g in range(e):
            for x in range(b):
                shift = np.zeros((T + 1, n, b), complex)
                for later in range(k, T + 1):
                    shift[later, :, x] = beta0[later - k, :, g]
                images.append(np.concatenate([shift.ravel(), np.zeros(form.size - shift.size)]))
    for g, h in np.ndindex(e, e):
        mixed = np.zeros_like(beta0)
        mixed[:, :, h] = beta0[:, :, g]
        tail = np.zeros(len(form.rows) * n)
        images.append(np.concatenate([np.zeros((T + 1) * n * b), mixed.ravel(), tail]))
    rows = np.array(images)
    values = np.linalg.svd(rows / np.linalg.norm(rows, axis=1, keepdims=True), compute_uv=False)
    # Free: all but β_0 outside the learning rows and the learnable cells.
    free = form.size - (n - len(form.learning)) * e - len(form.cells)
    assert values[free - 1] > 1e-7 * values[0]
    assert values[free:].max(initial=0) < 1e-2 * values[free - 1]


@pytest.mark.parametrize(
    "case",
    [
        Allocation.from_cells(LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 0), ("B", 1, 0)]),
        Allocation.from_cells(LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 0), ("W", 1, 1)]),
        Allocation.from_cells(LinearRNN(n=4, T=3, b=1, d=2, m=2), [("W", i, i) for i in range(4)]),
        Allocation.from_cells(
            LinearFeedForward(q=2, widths=(2,), d=1, m=2), [("W1", 0, 0), ("W2", 0, 1)]
        ),
    ],
    ids=str,
)
def test_where_it_does_not_apply(case):
    """There is no such form for other matrices, too few samples, too narrow nets or other kinds."""
    assert inputs_form(make_chain(case)) is None


def test_structural_zeros_are_refused():
    """With zeros elsewhere the parameters are no longer free."""
    mask = np.ones((8, 8))
    mask[7, 7] = 0
    assert inputs_form(make_chain(CASES[0], {"W": mask})) is None


def test_lines_of_labels_exist_for_every_width():
    """Along lines of labels D, B and W are constant, and β and fixed rows too: α is linear."""
    net = LinearRNN(n=4, T=2, b=1, d=2, m=2)
    case = Allocation.from_cells(net, [("W", i, i) for i in range(4)])
    mask = np.ones((4, 4))
    mask[0, 1] = 0
    for chain in (make_chain(case), make_chain(case, {"W": mask})):
        assert inputs_form(chain) is None
        form = inputs_form(chain, labels_only=True)
        rng = np.random.default_rng(2)
        parameters = chain.random(rng)[0]
        other = rng.standard_normal(4) + 1j * rng.standard_normal(4)
        moved, halfway = parameters.copy(), parameters.copy()
        moved[chain.y_at :] = labels_at(chain, parameters, other).ravel()
        halfway[chain.y_at :] = (parameters + moved)[chain.y_at :] / 2
        first, second, middle = (form.reduce(p) for p in (parameters, moved, halfway))
        assert np.abs(first.vector + second.vector - 2 * middle.vector).max() < 1e-12
        x = form.unknowns_of(second, other[None])
        assert np.abs(equations(form, second.vector, x[0])).max() < 1e-12
        assert np.abs(form.weights_of(second, x) - other).max() < 1e-12
    eyes = {"D": np.array([[1, 1, 1, 0], [1, 1, 1, 1]])}
    assert inputs_form(make_chain(case, eyes), labels_only=True) is None


def test_a_singular_decoder_gives_no_numbers():
    """Without a right inverse of D_R the parameters are no numbers, and nothing is divided by 0."""
    system = make_chain(CASES[0])
    parameters = np.random.default_rng(0).normal(size=system.size).astype(complex)
    parameters[system.d_at : system.d_at + NET.d * NET.n] = 0
    assert not np.isfinite(inputs_form(system).reduce(parameters).vector).all()
