"""The report of an inspection: the equations of each form, its blocks, its core, the budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.phases import phase
from algebra.problems.allocation import Allocation, cells_data
from algebra.ranks.budgets.lines import Budget, Violation, sentences
from algebra.results import Result, columns_of, named
from algebra.systems.core import Core
from algebra.systems.elimination import eliminate
from algebra.systems.forms import preferred_forms, unknown_count
from algebra.systems.incidence import BlockTriangularForm, block_triangular_form
from algebra.systems.modular_elimination import eliminate_modular
from algebra.systems.system import QuadraticSystem, WrittenSystem

# Forms with more equations are described only by their sizes.
MOST_EQUATIONS = 40_000


@dataclass(frozen=True)
class BlockSummary:
    """One block of the triangular form.

    Attributes
    ----------
    size : int
        Number of equations, which equals the number of unknowns.
    linear, quadratic : int
        Number of equations of degree at most 1, and of higher degree, in the block's own unknowns.
    """

    size: int
    linear: int
    quadratic: int


@dataclass(frozen=True)
class FormReport:
    """One form of the system, before and after elimination.

    Attributes
    ----------
    form : str
    equations, unknowns, weights : int
        Before elimination, without 0 = 0; `weights` is the number of unknowns that are learnable
        weights.
    by_degree : dict of int to int
        Number of equations of each total degree; degree 0 is a contradiction.
    overdetermined, underdetermined : (int, int)
        Numbers of equations and unknowns in these parts of the Dulmage–Mendelsohn decomposition.
    blocks : tuple of BlockSummary
        The square part, in solving order.
    core_equations, core_unknowns, core_degree : int
    bezout : int
        Bézout bound of the core.
    terms, possible_terms : int
        Sparsity of the core.
    core_blocks : tuple of int
        Sizes of the core's blocks.
    deferred : tuple of int
        Sizes of the linear blocks set aside.
    consistent : bool
        False if elimination finds 1 = 0.
    system : QuadraticSystem or PolynomialSystem
        The equations that were counted, over GF(p).
    triangular : BlockTriangularForm
        Of `system`, by position.
    """

    form: str
    equations: int
    unknowns: int
    weights: int
    by_degree: Mapping[int, int]
    overdetermined: tuple[int, int]
    underdetermined: tuple[int, int]
    blocks: tuple[BlockSummary, ...]
    core_equations: int
    core_unknowns: int
    core_degree: int
    bezout: int
    terms: int
    possible_terms: int
    core_blocks: tuple[int, ...]
    deferred: tuple[int, ...]
    consistent: bool
    system: WrittenSystem
    triangular: BlockTriangularForm

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        return {
            **named(self, "form", "equations", "unknowns", "weights"),
            "linear": sum(v for k, v in self.by_degree.items() if k <= 1),
            "quadratic": sum(v for k, v in self.by_degree.items() if k > 1),
            "by_degree": {str(k): v for k, v in self.by_degree.items()},
            **named(self, "overdetermined", "underdetermined"),
            "blocks": [[b.size, b.linear, b.quadratic] for b in self.blocks],
            "core": {
                "consistent": self.consistent,
                "equations": self.core_equations,
                "unknowns": self.core_unknowns,
                "degree": self.core_degree,
                "bezout_bound": self.bezout,
                **named(self, "terms", "possible_terms"),
                "blocks": list(self.core_blocks),
                "deferred": list(self.deferred),
            },
        }


@dataclass(frozen=True)
class UpdateReport:
    """One matrix that learns by an update (`algebra.problems.updates`).

    Attributes
    ----------
    matrix : str
    update : mapping
        Its table in a problem file.
    words : str
    parameters, dimension : int
        Number of parameters, and the dimension of the set of updated matrices.
    equations : int or None
        Upper bound on the number of independent equations in which they take part; None if unknown.
    """

    matrix: str
    update: Mapping[str, Any]
    words: str
    parameters: int
    dimension: int
    equations: int | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        return {
            "matrix": self.matrix,
            **self.update,
            **named(self, "parameters", "dimension", "equations"),
        }

    def __str__(self) -> str:
        text = f"{self.words}: {self.parameters} parameters"
        if self.dimension < self.parameters:
            text += f", dimension {self.dimension}"
        if self.equations is not None:
            text += f", in at most {self.equations} independent equations"
        return text


@dataclass(frozen=True, repr=False)
class Inspection(Result):
    """The structure report of an allocation.

    Attributes
    ----------
    allocation : Allocation
    prime : int
        The modulus of the generic sizes.
    forms : tuple of FormReport
        The form with the smaller core first.
    skipped : tuple of str
        Forms that were left out, with the reason.
    budgets : tuple of Budget
    violations : tuple of Violation
    labels : str
        For an instance given by the user: the source of its labels, "the teacher's" or "given";
        empty if the report is on generic data.
    updates : tuple of UpdateReport
        Matrices that learn by an update; `allocation` then holds all cells that can change.
    parameters : int or None
        Number of parameters that learn, if it differs from the number of cells.
    rank, equations : int or None
        If updates learn: generic ranks of the learnable parameters and of the whole network.
    """

    allocation: Allocation
    prime: int
    forms: tuple[FormReport, ...]
    skipped: tuple[str, ...]
    budgets: tuple[Budget, ...]
    violations: tuple[Violation, ...]
    labels: str = ""
    updates: tuple[UpdateReport, ...] = ()
    parameters: int | None = None
    rank: int | None = None
    equations: int | None = None

    @property
    def learnable(self) -> int:
        """Number r of learnable weights, or of parameters."""
        return self.allocation.size if self.parameters is None else self.parameters

    picture = "incidence"

    def facts(self) -> dict[str, Any]:
        """Sizes of the first form, before and after elimination."""
        first = self.forms[0] if self.forms else None
        sizes = first and {
            "form": first.form,
            "equations": first.equations,
            "unknowns": first.unknowns,
            "core": f"{first.core_equations} equations in {first.core_unknowns} unknowns",
            "bezout": first.bezout,
        }
        return {
            "network": str(self.allocation.network),
            "learnable": self.learnable,
            **(sizes or {}),
            "violations": len(self.violations),
        }

    def columns(self) -> dict[str, list[Any]]:
        """One row for each form."""
        names = ("form", "equations", "unknowns", "core_equations", "core_unknowns")
        return columns_of(self.forms, *names, "core_degree", "bezout", "consistent")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        network = self.allocation.network
        return {
            "network": {"kind": network.kind, **network.sizes},
            "learnable": self.learnable,
            "labels": network.outputs,
            "parameters": network.parameters,
            **cells_data("cells", network, self.allocation.cells),
            **named(self, "prime", "forms", "skipped"),
            **self._of_updates(),
            **({"labels": self.labels} if self.labels else {}),
            "violations": [
                {**named(v, "matrices", "kind", "learnable", "limit", "excess"), "text": str(v)}
                for v in self.violations
            ],
        }

    def _of_updates(self) -> dict[str, Any]:
        if not self.updates:
            return {}
        return named(self, "updates", "rank", "equations")

    def __str__(self) -> str:
        what = "parameters" if self.updates else "weights"
        lines = [str(self.allocation.network), f"  {self.learnable} learnable {what}"]
        lines += [f"  {update}" for update in self.updates]
        lines += [f"  {text}" for text in sentences(self.violations)]
        for form in self.forms:
            lines.append(
                f"  {form.form} form: {form.equations} equations in {form.unknowns} unknowns; "
                f"core {form.core_equations} in {form.core_unknowns}, Bézout bound {form.bezout}"
            )
        return "\n".join([*lines, *(f"  {text}" for text in self.skipped)])


def form_reports(
    allocation: Allocation, all_forms: bool, report: Callable[[str], FormReport], largest: int
) -> tuple[tuple[FormReport, ...], tuple[str, ...]]:
    """The forms that are eliminated, and the reasons why others are not.

    Parameters
    ----------
    allocation : Allocation
    all_forms : bool
        Report every form, not only the one with the smaller core.
    report : callable
        Maps the name of a form to its report.
    largest : int
        Forms with more unknowns are described only by their sizes.
    """
    reports: list[FormReport] = []
    skipped: list[str] = []
    for rank, form in enumerate(preferred_forms(allocation.network, allocation)):
        if rank and not all_forms:
            skipped.append(f"{form} form: its core is larger (`all_forms` includes it)")
            continue
        unknowns = unknown_count(allocation, form)
        if unknowns > largest:
            skipped.append(
                f"{form} form: {unknowns} unknowns, more than {largest}: not written out"
            )
            continue
        if (labels := allocation.network.outputs) > MOST_EQUATIONS:
            skipped.append(
                f"{form} form: an equation for each of {labels} labels, more than "
                f"{MOST_EQUATIONS}: not written out"
            )
            continue
        with phase(f"elimination of the {form} form ({unknowns} unknowns)"):
            reports.append(report(form))
    return tuple(reports), tuple(skipped)


def form_report(system: WrittenSystem, core: Core | None = None) -> FormReport:
    """The report of one form.

    Parameters
    ----------
    system : QuadraticSystem or PolynomialSystem
        Over a field.
    core : Core, optional
        Given if the system was eliminated already (the same equations over Q, say).
    """
    system = system.without_identities()
    unknowns = len(system.unknowns)
    triangular = block_triangular_form(system.occurs, unknowns)
    block_of = np.full(len(system), -1)
    own = np.full(unknowns, -2)
    for k, block in enumerate(triangular.blocks):
        block_of[list(block.equations)] = k
        own[list(block.unknowns)] = k
    linear = system.degree_in(own[None, :] == block_of[:, None]) <= 1
    blocks = []
    for block in triangular.blocks:
        size, straight = len(block.equations), int(linear[list(block.equations)].sum())
        blocks.append(BlockSummary(size, straight, size - straight))
    if core is None:
        if isinstance(system, QuadraticSystem):
            core = eliminate_modular(system)
        else:
            core = eliminate(system)
    core_triangular = block_triangular_form(core.occurs, len(core.unknowns))
    terms, possible = core.density
    return FormReport(
        form=system.form,
        equations=len(system),
        unknowns=unknowns,
        weights=system.weights,
        by_degree=dict(sorted(Counter(system.degrees.tolist()).items())),
        overdetermined=_sizes(triangular.overdetermined),
        underdetermined=_sizes(triangular.underdetermined),
        blocks=tuple(blocks),
        core_equations=core.equation_count,
        core_unknowns=len(core.unknowns),
        core_degree=max(core.degrees, default=0),
        bezout=core.bezout,
        terms=terms,
        possible_terms=possible,
        core_blocks=tuple(len(b.unknowns) for b in core_triangular.blocks),
        deferred=tuple(map(len, core.deferred_unknowns)),
        consistent=core.consistent,
        system=system,
        triangular=triangular,
    )


def _sizes(part: Any) -> tuple[int, int]:
    return len(part.equations), len(part.unknowns)
