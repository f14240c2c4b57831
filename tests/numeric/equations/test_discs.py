"""Disc arithmetic encloses: exact members of the inputs give members of the results."""

import numpy as np
import pytest
from flint import acb, acb_mat, arb, ctx

from numeric.certification.krawczyk_kernel import make_disc_system
from numeric.equations.arrays import residuals
from numeric.equations.discs import Discs, make_discs, run_discs
from numeric.equations.lanes.lifted import places_of
from numeric.equations.lanes.products import ProductWriter
from numeric.equations.lanes.tape import Tape
from tests.numeric.equations.cases import chains


def members(rng, mid, rad):
    """Exact points of discs: the centre, and points on the rim."""
    angle = np.exp(2j * np.pi * rng.uniform(size=mid.shape))
    # A hair inside the rim, so that rounding of the point itself does not matter.
    return mid + rad * (1 - 1e-9) * angle


def exact(array):
    return acb_mat(array.shape[0], array.shape[1], [acb(z.real, z.imag) for z in array.ravel()])


def inside(value, mid, rad):
    return abs(value - acb(mid.real, mid.imag)) <= arb(float(rad))


def test_every_instruction_encloses():
    """Values of a tape at members of its inputs lie in its discs, also where much cancels."""
    rng = np.random.default_rng(0)
    ctx.prec = 200
    for scale in (1.0, 1e-8, 1e8):
        tape = Tape()
        tape.dots(20, 1, 0, 1, 4, 4, 1, 4, 2)
        tape.subtract(20, 12)
        tape.copy(22, 20, 2)
        tape.add(22, 13)
        tape.set_one(24)
        tape.dots(24, 0, 22, 0, 23, 0, 0, 1, 1)
        tape.clear(25, 1)
        mid = rng.standard_normal(26) + 1j * rng.standard_normal(26)
        mid[:4] *= scale
        mid[1], mid[4:6] = -mid[0], mid[4]
        rad = np.where(np.arange(26) < 4, 1e-12, 1e-3) * rng.uniform(size=26)
        x = Discs(mid.copy(), rad.copy())
        assert run_discs(x, tape.table()[0])
        for _ in range(20):
            v = exact(members(rng, mid, rad)[None])
            dots = [
                v[0, 20 + t] + sum((v[0, q] * v[0, 4 + 4 * t + q] for q in range(4)), acb(0))
                for t in range(2)
            ]
            dots[0] -= v[0, 12]
            copied = [dots[0] + v[0, 13], dots[1]]
            wanted = [*dots, *copied, 1 + copied[0] * copied[1], acb(0)]
            for slot, value in enumerate(wanted, 20):
                assert inside(value, x.mid[slot], x.rad[slot])
    ctx.prec = 53


def test_an_instruction_without_an_enclosure_is_refused():
    """A tape with a factorization, which has no enclosure, is refused."""
    tape = Tape()
    tape.factor(0, 1)
    assert not run_discs(make_discs(2), tape.table()[0])


@pytest.mark.parametrize("chain", chains(), ids=lambda c: str(c.allocation))
def test_equations_and_jacobians_of_chains(chain):
    """Both forms of the equations at members of the polydisc, against balls."""
    ctx.prec = 200
    rng = np.random.default_rng(1)
    p, w = chain.random(rng)
    rho = 1e-6 * rng.uniform(size=len(w))
    for lifted in (False, True):
        tapes = chain.equations_as_tapes(lifted)
        system = make_disc_system(tapes, Discs(p, np.zeros(len(p))))
        at = rng.standard_normal(len(tapes.places)) + 1j * rng.standard_normal(len(tapes.places))
        at[tapes.states :] = w
        radii = np.concatenate([1e-6 * rng.uniform(size=tapes.states), rho])
        system.x.mid[tapes.places], system.x.rad[tapes.places] = at, radii
        assert run_discs(system.x, tapes.values)
        assert run_discs(system.x, tapes.derivatives)
        for _ in range(3):
            point = members(rng, at, radii)
            f, J = in_balls(chain, p, point, tapes.states)
            for e in range(len(f)):
                assert inside(-f[e], system.f.mid[e], system.f.rad[e])
                for v in range(len(f)):
                    assert inside(J[e][v], system.J.mid[e, v], system.J.rad[e, v])
    ctx.prec = 53


def in_balls(chain, p, point, states):
    """Values and Jacobian at a point, by products of matrices of balls.

    The lifted equations are bilinear, so that a central difference is a derivative.
    """
    vector, x = balls(p), balls(point)
    if not states:
        f, J = residuals(chain, vector, x[None])
        return f[0], J[0]
    J = []
    for v in range(len(x)):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            moved[v] += sign
            ends.append(lifted_values(chain, vector, moved, states))
        J.append([(a - b) / 2 for a, b in zip(*ends, strict=True)])
    return lifted_values(chain, vector, x, states), np.array(J, object).T.tolist()


def balls(values):
    return np.array([acb(z.real, z.imag) for z in values])


def lifted_values(chain, p, x, states):
    """``S_k - M_k S_{k-1}``, then ``F_k - D S_k`` if ``Y = Σ F_k P_k``, and the labels minus Y.

    Entries that depend on no weight are not unknowns: they have their own values.
    """
    p = p.copy()
    p[chain.cells[:, 4]] = x[states:]
    n, c, m, d = chain.widths, chain.columns, chain.samples, chain.network.d
    K, unknown = chain.steps, places_of(ProductWriter(chain.raw_form, 0, 0), natural=True).unknown

    def block(at, rows, columns):
        return p[at : at + rows * columns].reshape(rows, columns)

    def values(S):
        """All values, from those before each."""
        out = [block(chain.s0_at, n[0], c)]
        out += [block(chain.m_at[k], n[k], n[k - 1]) @ S[k - 1] for k in range(1, K + 1)]
        D = block(chain.d_at, d, n[-1])
        return [*out, *(D @ S[k] for k in range(1, K + 1) if chain.read_all)]

    S = [block(chain.s0_at, n[0], c)]
    for k in range(1, K + 1):
        S.append(block(chain.m_at[k], n[k], n[k - 1]) @ S[-1])
    S = values(S)
    flat = np.concatenate([one.ravel() for one in S])
    flat[unknown] = x[:states]
    ends = np.cumsum([one.size for one in S])[:-1]
    S = [own.reshape(one.shape) for own, one in zip(np.split(flat, ends), S, strict=True)]
    out = (flat - np.concatenate([one.ravel() for one in values(S)]))[unknown].tolist()
    if chain.read_all:
        parts = zip(S[K + 1 :], chain.p_at[1:], strict=True)
        labels = sum((F @ block(at, c, m) for F, at in parts), 0)
    else:
        labels = block(chain.d_at, d, n[-1]) @ S[K]
    gap = labels - block(chain.y_at, d, m)
    return [*out, *(gap[a, s] for a, s in chain.equations)]
