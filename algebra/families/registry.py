"""The families of networks: verify by the family of a network.

`algebra.families.certify` and `algebra.families.verify` decide by it.  A new family is a folder
with three functions, and a line here.  The modules of a family are loaded when they are first used:
one verb of one family needs few of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from algebra.certificates.family import Family
from algebra.checker.checks import Checked, CheckEffort
from algebra.checker.records import read_form
from algebra.checker.sparse import has_sparse_form
from algebra.checker.tables import NetworkInFile
from algebra.declarations import loaded
from algebra.errors import InputError
from algebra.networks.base import Network, Support
from algebra.problems.allocation import Allocation
from algebra.problems.features import is_on_pieces
from algebra.problems.laws.distribution import TEACHER
from algebra.problems.premises import Premises
from algebra.problems.problem import Problem

if TYPE_CHECKING:
    from algebra.certificates.certificate import Certificate
    from algebra.certificates.tools import Effort
    from algebra.systems.inspection import Inspection
    from algebra.systems.written import SymbolicSystem


# The form of the second paper's first lemma.
LEMMA = "lemma"


@dataclass(frozen=True)
class FamilyOfFolder(Family):
    """A family that is a folder with three modules, which are loaded when they are used.

    Attributes
    ----------
    name : str
    folder : str
        The dotted name of a package: its modules `certify`, `verify` and `inspect` have one
        function each that is called here.
    noun : str
        The networks in the names of these functions: `certify_NOUN` in `certify`, and so on.
    """

    name: str  # type: ignore[misc]
    folder: str
    noun: str

    def _function(self, verb: str) -> Callable[..., Any]:
        found: Callable[..., Any] = loaded(f"{self.folder}.{verb}:{verb}_{self.noun}")
        return found

    def theorems(self) -> tuple[Premises, ...]:
        found: tuple[Premises, ...] = loaded(f"{self.folder}.certify:THEOREMS")
        return found

    def certify(self, problem: Problem, effort: Effort) -> Certificate:
        found: Certificate = self._function("certify")(problem, effort)
        return found

    def verify(self, data: Mapping[str, Any], effort: CheckEffort) -> Checked:
        found: Checked = self._function("verify")(data, effort)
        return found

    def inspect(
        self, allocation: Allocation, support: Support, seed: int = 0, all_forms: bool = False
    ) -> Inspection:
        found: Inspection = self._function("inspect")(allocation, support, seed, all_forms)
        return found


class FamilyByArguments(FamilyOfFolder):
    """A family whose verdicts follow by the arguments of `algebra.arguments`."""

    def theorems(self) -> tuple[Premises, ...]:
        from algebra.arguments.certify import THEOREMS

        return THEOREMS

    def certify(self, problem: Problem, effort: Effort) -> Certificate:
        from algebra.arguments.certify import certify_by_arguments

        return certify_by_arguments(problem, effort)

    def verify(self, data: Mapping[str, Any], effort: CheckEffort) -> Checked:
        from algebra.arguments.verify import verify_by_arguments

        return verify_by_arguments(data, effort)

    def reaches_any_labels(self, network: Network) -> bool:
        return not is_on_pieces(network)


class ModelFamily(FamilyOfFolder):
    """Programs: on pieces, too, since each of them is known."""

    def reaches_any_labels(self, network: Network) -> bool:
        return True


class NormalizationFamily(FamilyOfFolder):
    """Networks whose normalization layers learn, with the second paper's theorem and lemma."""

    def forms(self) -> Mapping[str, Callable[[Allocation], SymbolicSystem]]:
        return {LEMMA: self._lemma_form}

    def _lemma_form(self, allocation: Allocation) -> SymbolicSystem:
        found: SymbolicSystem = loaded(f"{self.folder}.inspect:lemma_form")(allocation)
        return found

    def own_theorems(self, problem: Problem) -> dict[str, str]:
        return {"norm.1": loaded(f"{self.folder}.certify:theorem_1")(problem)}


# By their names, which kinds of networks have as `family`: name, folder, and noun of its functions.
FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        NormalizationFamily("normalization", "algebra.plugins.normalization", "normnet"),
        FamilyOfFolder("relu", "algebra.plugins.relu", "relu"),
        FamilyByArguments("activations", "algebra.families.activations", "activated"),
        ModelFamily("programs", "algebra.plugins.models", "program"),
        FamilyByArguments("linear", "algebra.families.linear", "linear"),
    )
}


def family_of(network: Network) -> Family:
    """The family of a network."""
    if network.family not in FAMILIES:
        raise InputError(f"a {network.title} belongs to no family that can be certified")
    return FAMILIES[network.family]


def verify_claimed(data: Mapping[str, Any], effort: CheckEffort) -> Checked:
    """Verify a certificate at points of the effort's seed.

    Parameters
    ----------
    data : mapping
        The content of the file.
    effort : CheckEffort
    """
    claimed = read_form(Mapping[str, Any], data.get("problem"), "problem")
    if claimed.get("teacher") is not None:
        from algebra.families.other_teacher import verify_other_teacher

        return verify_other_teacher(data, effort, verify_claimed)
    network = read_form(NetworkInFile, claimed.get("network"), "problem.network")
    learnable = claimed.get("learnable")
    values = learnable.values() if isinstance(learnable, Mapping) else ()
    updated = any(isinstance(value, Mapping) and not has_sparse_form(value) for value in values)
    laws = claimed.get("distribution")
    free = isinstance(laws, Mapping) and (laws.get("labels", TEACHER) != TEACHER or "noise" in laws)
    by_number = is_on_pieces(network) and (updated or not data.get("evidence"))
    if free and (by_number or not family_of(network).reaches_any_labels(network)):
        from algebra.families.arbitrary_labels import verify_by_number

        return verify_by_number(data)
    if updated:
        from algebra.families.updates.verify import verify_updates

        return verify_updates(data, effort, verify_claimed)
    return family_of(network).verify(data, effort)
