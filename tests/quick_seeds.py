"""Seeds of checks that are made quickly: in this process, and in those that check its proofs."""

import hashlib

from matchprob.api.proofs import checker
from matchprob.api.proofs.checker import prepare_checks


def make_seeds_quickly() -> None:
    """Lower the cost of scrypt in this process; `test_reading` checks the cost elsewhere."""
    slow = hashlib.scrypt
    hashlib.scrypt = lambda data, **options: slow(data, **{**options, "n": 2})


def check_quickly() -> None:
    """Lower it in the processes of checks that this one starts from now on."""
    checker.prepare_checks = _prepare
    checker.CHECKER._set(checker.MEMORY)


def _prepare(memory: int) -> None:
    make_seeds_quickly()
    prepare_checks(memory)
