"""The report of an inspection: the equations of each form, its blocks, its core, the budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from algebra.documents import Document, Explanation, Paragraph, Part, Table, step
from algebra.networks.kinds import MEANINGS
from algebra.networks.protocols import HasJacobian, HasLimits
from algebra.problems.allocation import Allocation
from algebra.problems.cells import cells_data
from algebra.problems.mask_pictures import mask_pictures
from algebra.problems.names import Names
from algebra.ranks.budgets.cover import rank_bound
from algebra.ranks.budgets.lines import Budget, Violation, budget_sentences
from algebra.results import Result, attribute_columns, named
from algebra.systems.core import Core
from algebra.systems.forms import DIRECT, FORMS, preferred_forms, unknown_count
from algebra.systems.incidence import BlockTriangularForm, block_triangular_form
from algebra.systems.modular_elimination import core_of
from algebra.systems.system import WrittenSystem
from algebra.time_limits import phase
from algebra.words import plural

if TYPE_CHECKING:
    from algebra.systems.symbolic import Elimination
    from algebra.systems.written import SymbolicSystem

# Forms with more equations are described only by their sizes.
MOST_EQUATIONS = 40_000


# Lines with too many weights that the explanation names.
_FIRST_VIOLATIONS = 3


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
    names : Names or None
        Of the units, for texts.
    written : SymbolicSystem or None
        The equations, if they are requested.
    core : Elimination or None
        What elimination leaves of them, if that is requested.
    constrained : bool
        Whether the problem has constraints, which are no part of the equations.
    principles : tuple of str
        What the first paper's unproved principles predict of it, in sentences.
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
    names: Names | None = field(default=None, compare=False)
    written: SymbolicSystem | None = None
    core: Elimination | None = None
    constrained: bool = False
    principles: tuple[str, ...] = ()

    @property
    def learnable(self) -> int:
        """Number r of learnable weights, or of parameters."""
        return self.allocation.size if self.parameters is None else self.parameters

    def columns(self) -> dict[str, list[Any]]:
        """One row for each form."""
        names = ("form", "equations", "unknowns", "core_equations", "core_unknowns")
        return attribute_columns(self.forms, *names, "core_degree", "bezout", "consistent")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        network = self.allocation.network
        return {
            "network": {"kind": network.kind, **network.sizes},
            "learnable": self.learnable,
            "labels": network.outputs,
            "parameters": network.parameters,
            **cells_data("cells", network, self.allocation.cells),
            **named(self, "prime", "forms", "skipped", "principles"),
            **self._of_updates(),
            **({"labels": self.labels} if self.labels else {}),
            "violations": [
                {**named(v, "matrices", "kind", "learnable", "limit", "excess"), "text": str(v)}
                for v in self.violations
            ],
            **({} if self.written is None else {"equations": self.written.to_dict()}),
            **({} if self.core is None else {"core": self.core.to_dict()}),
        }

    def _of_updates(self) -> dict[str, Any]:
        if not self.updates:
            return {}
        return named(self, "updates", "rank", "equations")

    def document(self) -> Document:
        """The equations and their core, form by form, and lines with too many weights."""
        return _document(self)


def _document(found: Inspection) -> Document:
    """The document of an inspection."""
    allocation, network = found.allocation, found.allocation.network
    first = found.forms[0] if found.forms else None
    letters = ", ".join(
        f"{name} {MEANINGS[name]}" for name in network.sizes if len(name) == 1 and name in MEANINGS
    )
    facts: dict[str, Any] = {
        "network": str(network),
        "letters": letters or None,
        "learnable": found.learnable,
        "weights": network.parameters,
        "labels": f"{network.d}×{network.columns} = {network.outputs} numbers",
    }
    if found.updates:
        facts["moved"] = f"{allocation.size} weights"
    if first is not None:
        facts |= {
            "form": first.form,
            "equations": first.equations,
            "unknowns": first.unknowns,
            "core": plural(first.core_equations, f"{first.core_equations} equation")
            + plural(first.core_unknowns, f" in {first.core_unknowns} unknown"),
            "bezout": first.bezout,
        }
    facts["violations"] = len(found.violations)
    parts: list[Part] = [Paragraph(f"  {update}") for update in found.updates]
    parts += mask_pictures(allocation, found.names)
    parts += [part for form in found.forms for part in _form(form)]
    parts += [Paragraph(f"  {text}", "quiet") for text in found.skipped]
    parts += _violations(found)
    if found.principles:
        parts.append(Paragraph(_PRINCIPLES, "quiet"))
        parts += [Paragraph(f"  {text}", "quiet") for text in found.principles]
    title = (
        f"{found.learnable} of {plural(network.parameters, f'{network.parameters} weight')} learn"
    )
    document = Document(title, facts, tuple(parts), _explanation(found), tone="strong")
    return document.mapped(found.names.annotate) if found.names else document


# What a principle claims, and no more.
_PRINCIPLES = (
    "Principles of the first paper, if 0 < MP < 1: tendencies among allocations of as many "
    "weights, not proved, and wrong for many pairs of them"
)


def _violations(found: Inspection) -> list[Part]:
    if not found.violations:
        return []
    title = Paragraph("More weights than equations", "bad")
    return [title, *(Paragraph(f"  {text}") for text in budget_sentences(found.violations))]


def _form(form: FormReport) -> tuple[Part, ...]:
    """A table of one form's sizes, and its blocks and core in words."""
    rows: list[tuple[str, Any, Any]] = [
        (
            "as written",
            form.equations,
            f"{form.unknowns} ({plural(form.weights, f'{form.weights} weight')})",
        )
    ]
    rows += [(f"  of degree {degree}", number, "") for degree, number in form.by_degree.items()]
    rows += [
        (label, *sizes)
        for label, sizes in (
            ("overdetermined part", form.overdetermined),
            ("underdetermined part", form.underdetermined),
        )
        if any(sizes)
    ]
    size = form.core_equations if form.consistent else "1 = 0"
    rows.append(("core, after elimination", size, form.core_unknowns))
    columns = dict(
        zip(("", "equations", "unknowns"), map(list, zip(*rows, strict=True)), strict=True)
    )
    lines = []
    if form.blocks:
        lines.append("block triangular form: " + _blocks(form))
    if form.deferred:
        lines.append(
            f"{len(form.deferred)} linear blocks are solved last (sizes "
            + ", ".join(map(str, form.deferred))
            + ")"
        )
    lines.append(_core(form))
    return (Table(columns, f"{form.form} form"), *(Paragraph(f"  {text}") for text in lines))


def _core(form: FormReport) -> str:
    if not form.consistent:
        return "elimination meets a contradiction: a generic instance has no solution"
    if not form.core_equations:
        if form.core_unknowns:
            return "core: no equation is left, infinitely many solutions"
        return "core: empty; the system is linear, with one solution"
    density = 100 * form.terms / max(form.possible_terms, 1)
    blocks = "no block structure"
    if form.core_blocks:
        blocks = "blocks of size " + ", ".join(map(str, form.core_blocks))
    return (
        f"core: degree at most {form.core_degree}, Bézout bound {form.bezout}, {form.terms} terms "
        f"({density:.0f} % of the possible), {blocks}"
    )


def _blocks(form: FormReport) -> str:
    """Sizes of the blocks, equal neighbours counted."""
    parts: list[tuple[str, int]] = []
    for block in form.blocks:
        kind = "linear" if not block.quadratic else f"{block.linear} linear + {block.quadratic}"
        text = f"{block.size} ({kind})" if block.quadratic else f"{block.size}"
        if parts and parts[-1][0] == text:
            parts[-1] = (text, parts[-1][1] + 1)
        else:
            parts.append((text, 1))
    return ", ".join(f"{n} × {text}" if n > 1 else text for text, n in parts)


_CERTIFY = step("certify", "the verdict, with evidence")


def _explanation(found: Inspection) -> Explanation:
    """What an inspection shows."""
    if found.violations:
        return _wasted(found)
    if found.updates:
        return _certified(f"Whether MP = 0 is decided by ranks: {found.skipped[0]}.")
    counted = isinstance(found.allocation.network, HasLimits)
    surplus = "No row, column or cross has more learnable weights than equations"
    if not found.forms:
        text = "Nothing was eliminated: the equations are too many, or depend on the instance."
        if found.allocation.network.rank_decides:
            text = f"{surplus}; the generic rank decides whether MP = 0."
        return _certified(text)
    first = found.forms[0]
    if found.labels:
        return _one_of_ones_own(found)
    if not first.consistent:
        return _certified(
            "Elimination of what is linear ends in 1 = 0: a generic instance has no solution, so "
            "MP = 0."
        )
    if first.core_unknowns == 0:
        text = "Everything is linear after elimination: one solution, so MP = 1 if not minimal"
        without = ", without the constraints; with them the solution may be none"
        return _certified(text + (without if found.constrained else "") + ".")
    if first.core_equations < first.core_unknowns:
        text = (
            f"The core has {first.core_unknowns} unknowns and {first.core_equations} equations: "
            "solutions form families."
        )
        open_ = "whether they are real"
        return Explanation((text,), open_, "a verdict on a part of the weights", (_CERTIFY,))
    known = [f"{_leaves(first)}, of degree at most {first.core_degree}: N is at most "
             f"{first.bezout} (Bézout)."]  # fmt: skip
    if counted:
        known.append(f"{surplus}; that is necessary for MP > 0, not sufficient.")
    return Explanation(
        tuple(known),
        "whether the equations are independent, and how many of the solutions are real",
        "the generic rank (MP = 0 or not) and the number N of complex solutions",
        (_CERTIFY, step("inspect", "the core itself", core=True)),
    )


def _certified(*known: str) -> Explanation:
    return Explanation(known, steps=(_CERTIFY,))


def _leaves(first: FormReport, over: str = "") -> str:
    equations = plural(first.core_equations, f"{first.core_equations} equation")
    unknowns = plural(first.core_unknowns, f"{first.core_unknowns} unknown")
    return f"Elimination{over} leaves {equations} in {unknowns}"


def _wasted(found: Inspection) -> Explanation:
    """What budgets that are exceeded say: how far the rank is bounded."""
    network, limit = found.allocation.network, rank_bound(found.allocation)
    redundant = (
        "Counting shows that some of the learnable weights are redundant:",
        *(f"  {text}" for text in budget_sentences(found.violations)[:_FIRST_VIOLATIONS]),
    )
    together = f"Together they change the labels in at most {limit} independent directions"
    if not isinstance(network, HasJacobian):
        return _certified(*redundant, f"{together}, on each activation pattern.")
    labels = network.label_dimension_bound
    needed = f"a match needs {labels}, if the labels' equations are independent"
    known = (*redundant, f"{together}; {needed}.")
    if limit >= labels:
        open_ = "whether the rest is enough: the bound is necessary, not sufficient"
        return Explanation(known, open_, "the generic rank", (_CERTIFY,))
    return Explanation(
        known,
        "whether MP = 0: yes, unless structural zeros or narrow layers reduce the number of "
        "independent equations",
        "the generic rank of the whole network",
        (_CERTIFY, step("repair", "the fewest moves that make MP > 0")),
    )


def _one_of_ones_own(found: Inspection) -> Explanation:
    """What the equations of one instance say of it."""
    first = found.forms[0]
    about = (
        "These are the equations of one instance; certify is about almost every instance."
        if found.labels != "given"
        else "The labels are given without a teacher, so this is not about MP."
    )
    if not first.consistent:
        text = "Elimination over Q ends in 1 = 0: this instance has no solution, not even complex."
        return _certified(text, about)
    if first.core_unknowns == 0:
        text = "Everything is linear after elimination over Q: this instance has one solution."
        return _certified(text, about)
    return Explanation(
        (f"{_leaves(first, ' over Q')}.", about),
        "how many solutions it has, and how many of them are real",
        "an exact count of this instance",
        (_CERTIFY,),
    )


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
    preferred = preferred_forms(allocation.network, allocation)
    sizes = [FORMS[form].size(allocation) for form in preferred]
    for rank, form in enumerate(preferred):
        if rank and not all_forms:
            size = "larger" if sizes[rank] > sizes[0] else "as large"
            skipped.append(f"{form} form: its core is {size}, so it was not eliminated")
            continue
        # A form has unknowns for each step; one of very many steps is not even built.
        chain = allocation.network.chain()
        least = len(chain.steps) if chain is not None and form != DIRECT.name else 0
        unknowns = least if least > largest else unknown_count(allocation, form)
        if unknowns > largest:
            at_least = "at least " if unknowns == least else ""
            skipped.append(
                f"{form} form: {at_least}{unknowns} unknowns, more than {largest}: not written out"
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
    core = core or core_of(system)
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
