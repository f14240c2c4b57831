"""Linear algebra over GF(p) against Python integers, FLINT and SymPy, at the extremes."""

import math
import random

import numpy as np
import pytest
import sympy
from flint import fmpq, nmod_mat
from hypothesis import given
from hypothesis import strategies as st

from algebra.linalg import echelon, ranks, residues
from algebra.linalg.echelon import modular_echelon
from algebra.linalg.modular import matmul
from algebra.linalg.primes import LONG_PRIME_COUNT, PRIME_COUNT, random_prime
from algebra.linalg.ranks import batched_rank, modular_rank
from algebra.linalg.residues import (
    inverses,
    is_sparse,
    random_bytes,
    random_residues,
    rational_residues,
    times,
)
from algebra.linalg.short_primes import as_doubles
from algebra.linalg.sums import added_groups, sum_of
from algebra.systems.instances import drawn_residues

PRIMES = [2, 3, 7, 65521, 1073741827, 2147483647]
LARGEST = 2147483647


def exact(a, b, p):
    """The product with Python's integers."""
    return (a.astype(object) @ b.astype(object)) % p


@given(
    st.sampled_from(PRIMES),
    st.integers(1, 4),
    st.integers(1, 40),
    st.integers(1, 4),
    st.integers(0, 99),
)
def test_products(p, rows, inner, columns, seed):
    """Products of random matrices are those of Python's integers."""
    rng = random.Random(seed)
    a, b = random_residues((rows, inner), p, rng), random_residues((inner, columns), p, rng)
    assert (matmul(a, b, p) == exact(a, b, p)).all()


@pytest.mark.parametrize("inner", [1, 2**15 - 1, 2**15, 2**15 + 1, 2**16 + 3, 100_000])
@pytest.mark.parametrize("p", [2147483647, 2147483629])
def test_the_largest_sums_do_not_overflow(inner, p):
    """All entries p − 1, inner dimension beyond 2^15: (p − 1)² = 1, so the sum is `inner`."""
    a, b = np.full((2, inner), p - 1), np.full((inner, 3), p - 1)
    assert (matmul(a, b, p) == inner % p).all()


@pytest.mark.parametrize("low", [0xFFFF, 0x7FFF0000, 0x7FFFFFFE, 0x7FFEFFFF])
def test_halves_at_their_largest(low):
    """Factors whose 16-bit halves are as large as they can be."""
    inner = 2**15 + 5
    a, b = np.full((1, inner), low), np.full((inner, 1), LARGEST - 1)
    assert int(matmul(a, b, LARGEST)[0, 0]) == low * (LARGEST - 1) * inner % LARGEST


def test_stacks_multiply_like_numpy():
    """Leading dimensions are broadcast, as in `numpy.matmul`."""
    rng = random.Random(1)
    a, b = random_residues((5, 2, 3), LARGEST, rng), random_residues((3, 4), LARGEST, rng)
    stacked = matmul(a, b, LARGEST)
    assert stacked.shape == (5, 2, 4)
    for k in range(5):
        assert (stacked[k] == exact(a[k], b, LARGEST)).all()
    assert (
        matmul(np.zeros((2, 0), np.int64), np.zeros((0, 3), np.int64), 7).tolist() == [[0] * 3] * 2
    )


@pytest.mark.parametrize("p", PRIMES)
def test_inverses(p):
    """x · x^{-1} = 1, and 0 for 0, for the smallest and largest residues."""
    values = np.unique(np.array([0, 1, 2 % p, p // 2, p - 1, 12345 % p]))
    found = inverses(values, p)
    for x, y in zip(values.tolist(), found.tolist(), strict=True):
        assert y == (pow(x, -1, p) if x else 0)


def low_rank(rng, p, count, rows, columns):
    """Matrices of ranks 0 to min(rows, columns), as products of thin factors."""
    batch = []
    for k in range(count):
        inner = k % (min(rows, columns) + 1)
        a, b = random_residues((rows, inner), p, rng), random_residues((inner, columns), p, rng)
        batch.append(matmul(a, b, p) if inner else np.zeros((rows, columns), np.int64))
    return np.stack(batch)


@pytest.mark.parametrize("p", PRIMES)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (4, 4), (3, 6), (6, 3), (9, 9)])
def test_ranks_side_by_side(p, rows, columns):
    """Ranks of a batch, of all ranks there are, are FLINT's one by one."""
    batch = low_rank(random.Random(rows * columns), p, 40, rows, columns)
    before = batch.copy()
    expected = [int(nmod_mat(rows, columns, m.ravel().tolist(), p).rank()) for m in batch]
    assert batched_rank(batch, p).tolist() == expected
    assert [modular_rank(m, p) for m in batch] == expected
    assert (batch == before).all()
    if p > 1000:
        assert set(expected) == set(range(min(rows, columns) + 1))


def test_ranks_of_sparse_matrices():
    """Zero columns, permuted rows and repeated rows, where pivots must be searched."""
    rng = random.Random(2)
    batch = np.array(
        [[[rng.choice([0, 0, 0, 1, 6]) for _ in range(5)] for _ in range(5)] for _ in range(300)]
    )
    expected = [int(nmod_mat(5, 5, m.ravel().tolist(), 7).rank()) for m in batch]
    assert batched_rank(batch, 7).tolist() == expected
    assert len(set(expected)) > 3


@pytest.mark.parametrize("shape", [(0, 3, 3), (4, 0, 3), (4, 3, 0)])
def test_ranks_of_nothing(shape):
    """Empty batches and empty matrices have rank 0."""
    assert batched_rank(np.zeros(shape, np.int64), 7).tolist() == [0] * shape[0]
    assert modular_rank(np.zeros(shape[1:], np.int64), 7) == 0


def test_entries_need_not_be_reduced():
    """Negative and large entries are taken modulo p."""
    assert batched_rank(np.array([[[-7, 14], [7, 21]], [[8, 0], [0, -1]]]), 7).tolist() == [0, 2]


@pytest.mark.parametrize("count", [65_532, 65_536, 4 * 625 * 31])
def test_many_bytes_are_those_of_python(count):
    """NumPy's generator continues Python's, and Python's continues NumPy's."""
    a, b = random.Random("x"), random.Random("x")
    a.gauss(), b.gauss()
    for _ in range(2):
        assert random_bytes(count, a) == b.randbytes(count)
        assert (a.random(), a.gauss()) == (b.random(), b.gauss())


def test_random_residues_are_uniform():
    """Every residue occurs; means and spread are those of the uniform law (seeded)."""
    sample = random_residues((1000, 50), LARGEST, random.Random(0))
    assert sample.dtype == np.int64
    assert sample.min() >= 0
    assert sample.max() < LARGEST
    # Five standard errors of the mean of 50,000 uniform variables.
    error = 5 / math.sqrt(12 * sample.size)
    assert abs(sample.mean() / LARGEST - 0.5) < error
    assert set(random_residues((200,), 3, random.Random(0)).tolist()) == {0, 1, 2}
    assert random_residues((2, 0), 7, random.Random(0)).shape == (2, 0)


def test_random_primes_have_31_bits():
    """Each is a prime between 2^30 and 2^31; the stream decides."""
    rng = random.Random(0)
    found = [random_prime(rng) for _ in range(40)]
    assert all(2**30 < p < 2**31 and sympy.isprime(p) for p in found)
    assert len(set(found)) == 40
    assert found[0] == random_prime(random.Random(0))


def test_the_number_of_primes():
    """π(2^31) − π(2^30) is near the logarithmic integral's difference (Riemann's estimate)."""
    estimate = float(sympy.li(2**31).evalf() - sympy.li(2**30).evalf())
    assert abs(PRIME_COUNT - estimate) < 3000


@given(p=st.integers(2, 2**31 - 1), count=st.integers(0, 40), seed=st.integers(0, 2**32))
def test_drawn_residues_are_those_of_randrange(p, count, seed):
    """The same numbers from the same stream, which stands at the same place afterwards."""
    one, other = random.Random(seed), random.Random(seed)
    drawn = drawn_residues((count, 3), p, one)
    assert drawn.ravel().tolist() == [other.randrange(p) for _ in range(3 * count)]
    assert one.random() == other.random()


LONG_PRIMES = [2147483659, (1 << 45) - 55, 1152921504606847009, 2305843009213693921, (1 << 61) - 1]


@given(st.sampled_from(LONG_PRIMES), st.integers(0, 10**6), st.integers(1, 3))
def test_long_residues_multiply_like_python_integers(p, seed, axes):
    """Entrywise products of residues below 2^61 are exact, among them the extreme residues."""
    rng = random.Random(seed)
    a = random_residues((7,) * axes, p, rng)
    b = random_residues((7,) * axes, p, rng)
    special = np.array([0, 1, p - 1, p // 2, p // 2 + 1, 1 << 31, (1 << 31) - 1]) % p
    a.flat[:7], b.flat[:7] = special, rng.sample(special.tolist(), 7)
    assert (times(a, b, p) == a.astype(object) * b.astype(object) % p).all()
    assert (times(a, b[0], p) == a.astype(object) * b[0].astype(object) % p).all()


def test_many_long_products_are_formed_in_blocks():
    """Shapes that are broadcast, of more entries than one block, give the same residues."""
    p, rng = LONG_PRIMES[-1], random.Random(3)
    a, b = random_residues((3, 1, 40_000), p, rng), random_residues((1, 2, 40_000), p, rng)
    assert (times(a, b, p) == a.astype(object) * b.astype(object) % p).all()
    a, b = random_residues((40_000, 2), p, rng), random_residues((40_000, 2), p, rng)
    assert (times(a, b, p) == a.astype(object) * b.astype(object) % p).all()


@pytest.mark.parametrize("p", [*LONG_PRIMES, *PRIMES[3:]])
@pytest.mark.parametrize("inner", [0, 1, 30, 1024, 1025, 2100])
def test_products_by_limbs_are_exact(p, inner):
    """Products of matrices through limbs are those of Python's integers, sums split or not."""
    rng = random.Random(inner)
    a, b = random_residues((6, inner), p, rng), random_residues((inner, 7), p, rng)
    assert (matmul(a, b, p) == exact(a, b, p)).all()


@pytest.mark.parametrize("p", [*LONG_PRIMES, *PRIMES[3:]])
def test_limbs_at_their_largest(p):
    """Residues whose limbs are as large as they can be, of either sign, in the longest sums."""
    bits = 16 if p <= 1 << 31 else 21
    top = sum(1 << (bits * k + bits - 1) for k in range(2 if bits == 16 else 3)) % p
    for low in (top, p - top, p // 2, p // 2 + 1, p - 1):
        a, b = np.full((5, 1024), low), np.full((1024, 40), low)
        assert (matmul(a, b, p) == low * low * 1024 % p).all()


@pytest.mark.parametrize("p", LONG_PRIMES)
def test_long_ranks_and_inverses(p):
    """Ranks of matrices of known rank, in one and in a batch; inverses of long residues."""
    rng = random.Random(p)
    known = [
        matmul(random_residues((5, k), p, rng), random_residues((k, 6), p, rng), p)
        for k in range(6)
    ]
    assert batched_rank(np.stack(known), p).tolist() == list(range(6))
    assert [modular_rank(matrix, p) for matrix in known] == list(range(6))
    values = random_residues((50,), p, rng)
    assert (times(values, inverses(values, p), p) == 1).all()


def test_long_primes():
    """Primes of 61 bits lie in the upper half, and are prime."""
    rng = random.Random(1)
    for _ in range(5):
        p = random_prime(rng, 61)
        assert 1 << 60 < p < 1 << 61
        assert sympy.isprime(p)
    assert LONG_PRIME_COUNT > 1 << 54


@pytest.mark.parametrize("p", [PRIMES[-1], LONG_PRIMES[-1]])
def test_ranks_by_blocks(p, monkeypatch):
    """Elimination by blocks finds the ranks that FLINT finds, of wide, tall and deficient ones."""
    rng = random.Random(1)
    known = [
        matmul(random_residues((a, k), p, rng), random_residues((k, b), p, rng), p)
        for a, b, k in ((40, 30, 30), (30, 40, 17), (33, 33, 33), (33, 33, 32), (35, 20, 0))
    ]
    # A block without pivots, and one whose rows are all used up.
    known.append(np.hstack([np.zeros((20, 12), np.int64), known[0][:20], known[0][:20]]))
    expected = [modular_rank(matrix, p) for matrix in known]
    monkeypatch.setattr(ranks, "LARGE", 1)
    monkeypatch.setattr(echelon, "_BLOCK_COLUMNS", 7)
    copies = [matrix.copy() for matrix in known]
    assert [modular_rank(matrix, p) for matrix in known] == expected == [30, 17, 33, 32, 0, 20]
    assert all(np.array_equal(a, b) for a, b in zip(known, copies, strict=True))


@pytest.mark.parametrize("p", [PRIMES[-1], LONG_PRIMES[-1]])
def test_groups_of_columns_are_added(p):
    """Sums of neighbouring columns, which 64 bits would not hold."""
    table = np.full((2, 40), p - 1)
    assert added_groups(table, np.array([0, 1, 8]), p).tolist() == [[p - 1, p - 7, p - 32]] * 2


def test_random_numbers_in_parts_are_those_in_one(monkeypatch):
    """Streams are stored contracts: drawing in parts, as Python must beyond 2^31 bits, changes
    none."""
    whole = [
        (f((3, 50), 1_000_003, random.Random("parts")) % 1_000_003).tolist()
        for f in (random_residues, drawn_residues)
    ]
    monkeypatch.setattr(residues, "_BYTES_AT_ONCE", 12)
    assert whole == [
        f((3, 50), 1_000_003, random.Random("parts")).tolist()
        for f in (random_residues, drawn_residues)
    ]


@pytest.mark.parametrize("p", [2, 7, LARGEST, 2**61 - 1])
def test_echelon_forms_by_blocks(monkeypatch, p):
    """Of every rank, dense and sparse, they are FLINT's, whatever the width of a block is."""
    rng = random.Random(p)
    for k in range(40):
        monkeypatch.setattr(echelon, "_WIDTH", 1 + k % 4)
        rows, columns = rng.randint(1, 12), rng.randint(1, 12)
        [matrix] = low_rank(rng, p, k + 1, rows, columns)[-1:]
        if k % 2:
            matrix = matrix * (random_residues((rows, columns), 3, rng) == 0)
        expected = echelon._echelon(matrix, p)
        found = echelon._echelon_in_blocks(matrix.copy(), p)
        assert found[1] == expected[1]
        assert (found[0] == expected[0]).all()


def test_a_wide_echelon_form(monkeypatch):
    """A large matrix of low rank, which goes through blocks and is not overwritten."""
    rng = random.Random(3)
    a, b = random_residues((30, 9), LARGEST, rng), random_residues((9, 40), LARGEST, rng)
    matrix = matmul(a, b, LARGEST)
    before, expected = matrix.copy(), modular_echelon(matrix, LARGEST)
    monkeypatch.setattr(echelon, "_WIDE", 35)
    found = modular_echelon(matrix, LARGEST)
    assert found[1] == expected[1] == list(range(9))
    assert (found[0] == expected[0]).all()
    assert (matrix == before).all()


@pytest.mark.parametrize("columns", [1, 64, 65, 130])
def test_sparse_factors(columns):
    """A large factor with few entries, first or second, some of them the largest residues."""
    rng = np.random.default_rng(columns)
    p = (1 << 61) - 1
    a = np.zeros((300, 400), np.int64)
    a.flat[rng.choice(a.size, 2000, replace=False)] = rng.integers(1, p, 2000)
    a[7, :300] = p - 1
    b = rng.integers(0, p, (400, columns))
    b[:, 0] = p - 1
    assert is_sparse(a)
    assert not is_sparse(np.ones((300, 400), np.int64))
    product = np.zeros((300, columns), object)
    for i, k in zip(*np.nonzero(a), strict=True):
        product[i] += int(a[i, k]) * b[k].astype(object)
    product %= p
    assert (matmul(a, b, p) == product).all()
    assert (matmul(b.T, a.T, p) == product.T).all()


def test_residues_of_rationals():
    """Residues times denominators are numerators; a bad prime is reported."""
    halves = np.array([[fmpq(1, 2), fmpq(-1, 4)]], dtype=object)
    assert rational_residues(halves, 7).tolist() == [[4, 5]]
    with pytest.raises(ZeroDivisionError):
        rational_residues(np.array([[fmpq(1, 7)]], dtype=object), 7)


@pytest.mark.parametrize("p", [2, 65521, 2147483647, 2305843009213693951])
def test_sums_in_any_order_of_memory(p):
    """Sums are those of Python's integers, also of transposed and of repeated entries."""
    rng = random.Random(p)
    a, b = random_residues((6, 5, 7), p, rng), random_residues((7, 6), p, rng)
    pairs = [(a, a[::-1]), (a.transpose(2, 1, 0), b[:, None]), (a, np.broadcast_to(p - 1, a.shape))]
    for first, second in pairs:
        expected = (first.astype(object) + second) % p
        assert (sum_of(first, second, p) == expected).all()


def test_signed_doubles_are_residues_of_a_short_prime():
    """Products with one factor of signed doubles are those of the residues, of any size."""
    p, rng = 8388593, random.Random(4)
    for rows, inner, columns in ((2, 3, 4), (40, 30, 50), (3, 1000, 5)):
        a, b = random_residues((rows, inner), p, rng), random_residues((inner, columns), p, rng)
        assert (matmul(a, as_doubles(b, p), p) == exact(a, b, p)).all()


@pytest.mark.parametrize("p", [3, 65521, 1073741827, 2305843009213693951])
@pytest.mark.parametrize("count", [1, 7, 3000])
def test_random_residues_are_words_of_the_stream(p, count):
    """64 bits of Python's generator each, the lowest first, modulo p; then the stream goes on."""
    rng, other = random.Random("a"), random.Random("a")
    found = random_residues((count, 1), p, rng)
    words = other.randbytes(8 * count)
    expected = [int.from_bytes(words[k : k + 8], "little") % p for k in range(0, 8 * count, 8)]
    assert found[:, 0].tolist() == expected
    assert rng.random() == other.random()
