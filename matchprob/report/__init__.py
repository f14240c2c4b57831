"""Results as a person reads them in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from algebra.certificates.certificate import Certificate
from algebra.certificates.checks import Verification
from algebra.networks.normalization import NormNet
from algebra.normalization.inspect import lemma_equations
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem, problem_from_dict
from algebra.problems.random_cells import RandomCells
from algebra.surveys.atlas import Atlas
from algebra.surveys.audit import AuditResult, Counterexample
from algebra.systems.inspection import FormReport, Inspection
from algebra.systems.system import symbolic_system
from numeric.counts import CountResult
from numeric.statistics.comparison import Comparison
from numeric.statistics.estimate import Estimate
from numeric.studies.store import StudyInfo

STYLES = {
    "maximal": "bold green",
    "minimal": "bold red",
    "intermediate": "bold yellow",
    "undecided": "bold magenta",
}
# Wider masks are summarized by counts.
_WIDEST = 48
_MOST_EQUATIONS = 60


def table(*columns: str, right: Sequence[str] = ()) -> Table:
    """A plain table; the columns named in `right` are right-aligned."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in right else "left"
        made.add_column(column, justify=justify, no_wrap=column not in ("note", "what", ""))
    return made


def mask_text(allocation: Allocation, name: str) -> str:
    """A mask as rows of ● (learnable) and · (fixed)."""
    return "\n".join("".join("●" if v else "·" for v in row) for row in allocation.masks[name])


def percent(found: Estimate) -> str:
    """Estimate and interval in one line."""
    interval = found.interval()
    value = "undecided" if found.estimate is None else f"{found.estimate:.4f}"
    return f"{value} [{interval.low:.4f}, {interval.high:.4f}]"


def print_inspection(out: Console, found: Inspection, problem: Problem, seed: int) -> None:
    """The structure report."""
    allocation = found.allocation
    network = allocation.network
    out.print(Text(str(network), style="bold"))
    if problem.is_random:
        out.print(f"random allocation; below the one of trial 0, seed {seed}")
    out.print(
        f"{allocation.size} of {network.parameters} weights learn; "
        f"the labels are {network.d}×{network.m} = {network.outputs} numbers"
    )
    for name in allocation.matrices:
        rows, columns = network.shapes[name]
        counts = f"{name} ({rows}×{columns}), learnable weights a row: " + " ".join(
            map(str, allocation.row_counts(name))
        )
        out.print(f"\n{counts}")
        if max(rows, columns) <= _WIDEST:
            out.print(Text(mask_text(allocation, name), style="cyan"))
    for form in found.forms:
        out.print()
        _print_form(out, form)
    for text in found.skipped:
        out.print(Text(f"  {text}", style="dim"))
    out.print()
    if found.violations:
        out.print(Text("Too many weights for too few equations", style="bold red"))
        for violation in found.violations:
            out.print(f"  {violation}")
    elif not isinstance(network, NormNet):
        out.print("No row, column or cross holds more weights than it has equations.")


def _print_form(out: Console, form: FormReport) -> None:
    out.print(Text(f"{form.form} form", style="bold"))
    grid = table("", "equations", "unknowns", right=("equations", "unknowns"))
    grid.add_row("as written", str(form.equations), f"{form.unknowns} ({form.weights} weights)")
    for degree, number in form.by_degree.items():
        grid.add_row(f"  of degree {degree}", str(number), "")
    for label, (equations, unknowns) in (
        ("overdetermined part", form.overdetermined),
        ("underdetermined part", form.underdetermined),
    ):
        if equations or unknowns:
            grid.add_row(label, str(equations), str(unknowns))
    size = str(form.core_equations) if form.consistent else "1 = 0"
    grid.add_row("core, after elimination", size, str(form.core_unknowns))
    out.print(grid)
    if form.blocks:
        out.print("  block triangular form: " + _blocks(form))
    if form.deferred:
        out.print(
            f"  {len(form.deferred)} linear blocks are solved last (sizes "
            + ", ".join(map(str, form.deferred))
            + ")"
        )
    if not form.consistent:
        out.print("  elimination meets a contradiction: a generic instance has no solution")
    elif form.core_equations:
        density = 100 * form.terms / max(form.possible_terms, 1)
        out.print(
            f"  core: degree at most {form.core_degree}, Bézout bound {form.bezout}, "
            f"{form.terms} terms ({density:.0f} % of the possible), blocks of size "
            + (", ".join(map(str, form.core_blocks)) or "none")
        )
    elif form.core_unknowns:
        out.print("  core: no equation is left, infinitely many solutions")
    else:
        out.print("  core: empty; the system is linear, with one solution")


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


def print_equations(out: Console, found: Inspection, problem: Problem) -> None:
    """The equations of the first form, in SymPy's words."""
    network = found.allocation.network
    if isinstance(network, NormNet):
        out.print(Text("\nEquations of Lemma 1, no unit silent", style="bold"))
        layers = range(1, network.depth + 1)
        every = [pair for k in layers for pair in lemma_equations(network, k)]
        _print_equations(out, every)
        return
    if not found.forms:
        return
    system = symbolic_system(found.allocation, found.forms[0].form, problem.support)
    out.print(Text(f"\nEquations of the {system.form} form", style="bold"))
    _print_equations(out, list(zip(system.labels, system.equations, strict=True)))


def _print_equations(out: Console, equations: list[tuple[str, Any]]) -> None:
    for label, equation in equations[:_MOST_EQUATIONS]:
        out.print(f"  {label}:  {equation.expand()} = 0", soft_wrap=True, markup=False)
    left = len(equations) - _MOST_EQUATIONS
    if left > 0:
        out.print(f"  … and {left} more")


def print_certificate(out: Console, found: Certificate) -> None:
    """A verdict and what it rests on."""
    out.print(Text(found.verdict, style=STYLES[found.verdict]), Text(f"  {found.rule}"), sep="")
    rows: list[tuple[str, Any]] = [
        ("equations", f"{found.equations} (generic rank of the network's Jacobian)"),
        ("rank", f"{found.rank} of {found.learnable} learnable weights"),
    ]
    if found.generic_root_count is not None:
        rows.append(("generic root count", found.generic_root_count))
    rows.append(("certainty", _certainty(found)))
    said = [f"{name}: {word}" for name, word in found.theorems.items() if word != "silent"]
    rows.append(("theorems as stated", "; ".join(said) or "all silent"))
    grid = table("", "")
    grid.show_header = False
    for key, value in rows:
        grid.add_row(Text(f"  {key}", style="dim"), str(value))
    out.print(grid)
    for text in (*found.reasons, *found.notes, *found.tried):
        out.print(f"  {text}", markup=False)


def _certainty(found: Certificate) -> str:
    """What is proved and what is not."""
    bound = found.error_bound
    if bound:
        text = f"rank: error at most {bound.numerator / bound.denominator:.1e}"
    elif not found.prime:
        return "proved"
    else:
        text = f"rank proved modulo {found.prime}"
    roots = found.evidence.get("root_count")
    if roots and roots["rule"] == "trace test":
        text += f"; N by monodromy, trace test residual {roots['trace']['residual']}: no proof"
    elif roots and roots["rule"] != "linear":
        text += f"; N counted modulo {len(roots['primes'])} random primes (likely, no bound)"
    return text


def print_verification(out: Console, found: Verification) -> None:
    """Every check with its status."""
    style = STYLES.get(found.verdict, "") if found.holds else "bold red"
    out.print(Text(f"{found.verdict}: {'holds' if found.holds else 'does not hold'}", style=style))
    grid = table("status", "place", "what")
    for check in found.checks:
        colour = {"proved": "green", "failed": "bold red"}.get(check.status, "yellow")
        grid.add_row(Text(check.status, style=colour), check.place, Text(check.text))
    out.print(grid)


def print_audit(out: Console, found: Sequence[AuditResult]) -> None:
    """Where the theorems agree, are silent, or are wrong."""
    for result in found:
        share = f" of {result.total}" if result.checked < result.total else ""
        out.print(
            Text(
                f"{result.network}; {result.budget} weights of {result.matrix}: "
                f"{result.checked}{share} allocations, {result.minimal} minimal",
                style="bold",
            )
        )
        if not result.theorems:
            out.print("  no theorem speaks of these")
            continue
        numbers = ("agree", "silent", "maximal, but minimal", "minimal, but not")
        grid = table("theorem", *numbers, right=numbers)
        for t in result.theorems:
            wrong = (t.says_maximal_but_minimal, t.says_minimal_but_not)
            grid.add_row(
                t.theorem,
                str(t.agree),
                str(t.silent),
                *(Text(str(w), style="bold red" if w else "") for w in wrong),
            )
        out.print(grid)
        for t in result.theorems:
            for found_wrong in t.examples:
                example = Allocation.from_cells(result.network, found_wrong.cells)
                out.print(f"  {t.theorem} says {found_wrong.says}, wrongly, of {example}")
                if max(result.network.shapes[result.matrix]) <= _WIDEST:
                    shown = mask_text(example, result.matrix).replace("\n", "\n    ")
                    out.print(Text(f"    {shown}", style="cyan"))
                out.print(f"    {_rank_shown(found_wrong)}")
        bound = result.error_bound
        out.print(
            f"  minimal verdicts: error at most {bound.numerator / bound.denominator:.1e} over all"
        )


def _rank_shown(example: Counterexample) -> str:
    """The ranks that refute a theorem, and where they can be seen."""
    primes = ", ".join(str(p) for p in dict.fromkeys(p for p, _ in example.points))
    if example.rank < example.equations:
        where = f"at {len(example.points)} random points, modulo {primes}"
    else:
        where = f"at a point modulo {primes}, so it is proved"
    return f"rank {example.rank} of {example.equations} {where}"


def print_atlas(out: Console, found: Atlas) -> None:
    """One line an orbit, and the totals."""
    out.print(Text(str(found.network), style="bold"))
    grid = table(
        "allocation", "orbit", "rank", "N", "verdict", "rule", right=("orbit", "rank", "N")
    )
    for e in found.entries:
        grid.add_row(
            str(Allocation.from_cells(found.network, e.cells)),
            str(e.orbit),
            str(e.rank),
            "–" if e.root_count is None else str(e.root_count),
            Text(e.verdict, style=STYLES[e.verdict]),
            e.rule,
        )
    out.print(grid)
    totals = ", ".join(f"{v} {k}" for k, v in found.totals.items())
    allocations = sum(e.orbit for e in found.entries)
    out.print(f"{allocations} allocations in {len(found.entries)} orbits: {totals}")


def print_counts(out: Console, found: CountResult) -> None:
    """A summary of counts, and each instance where there are few."""
    out.print(str(found), markup=False)
    if len(found) <= 40:
        grid = table(
            "instance", "real", "complex", "status", "note", right=("instance", "real", "complex")
        )
        for c in found:
            shown = ["–" if v is None else str(v) for v in (c.real, c.complex)]
            grid.add_row(str(c.index), *shown, c.status, Text(c.note))
        out.print(grid)


def print_estimate(out: Console, found: Estimate) -> None:
    """An estimate with both intervals and the histogram of real solutions."""
    if not found.trials:
        out.print("no trial was finished")
        return
    out.print(Text(f"MP {percent(found)}", style="bold"))
    if found.running is None:
        exact, wilson = found.interval(), found.interval("wilson")
        text = (
            f"Clopper–Pearson [{exact.low:.4f}, {exact.high:.4f}]"
            f"  Wilson [{wilson.low:.4f}, {wilson.high:.4f}]"
        )
    else:
        text = (
            f"[{found.running.low:.4f}, {found.running.high:.4f}] from a confidence sequence: "
            "it holds although the number of trials followed the outcomes"
        )
    out.print(f"  {found.confidence:.0%} interval  {text}")
    out.print(
        f"  {found.trials} trials by {found.engine}, seed {found.seed}: {found.matched} matched, "
        f"{found.unmatched} unmatched, {found.undetermined} undetermined"
    )
    notes = Counter(c.note for c in found.counts if c.status != "complete" or "certified" in c.note)
    for note, number in notes.most_common(3):
        if note:
            out.print(Text(f"  {number:6d}  {note}", style="dim"))
    if found.by_trace_test:
        out.print(
            f"  {found.by_trace_test} of the unmatched rest on a root count by a trace test "
            "(numerical, no proof)"
        )
    largest = max(found.histogram.values(), default=0)
    for real, number in found.histogram.items():
        bar = "█" * max(1, round(40 * number / largest))
        out.print(f"  {real:3d} real  {number:6d}  {bar}")


def print_comparison(out: Console, found: Comparison) -> None:
    """Both estimates, and the interval of their difference."""
    for name, estimate in (("first", found.first), ("second", found.second)):
        out.print(f"{name:<7} MP {percent(estimate)}  {_learns(estimate.problem)}", markup=False)
    out.print(Text(found.summary, style="bold"))
    table_ = found.table
    out.print(
        f"  of {found.trials} common instances: {table_[0, 0]} matched by both, "
        f"{table_[0, 1]} by the first only, {table_[1, 0]} by the second only, {table_[1, 1]} "
        f"by neither, {found.trials - int(table_[:2, :2].sum())} undecided"
    )


def _learns(problem: Problem) -> str:
    """What learns, on one line."""
    parts = []
    for name, value in problem.learnable.items():
        if isinstance(value, RandomCells):
            parts.append(f"{value.budget} random cells of {name}")
        else:
            parts.append(f"{int(value.sum())} cells of {name}")
    return ", ".join(parts) or "nothing"


def print_studies(out: Console, studies: Sequence[StudyInfo]) -> None:
    """One line a study."""
    numbers = ("id", "seed", "trials", "matched", "not", "?")
    grid = table("id", "key", "what", "engine", *numbers[1:], right=numbers)
    for s in studies:
        problem = problem_from_dict(s.work["problem"])
        grid.add_row(
            str(s.id), s.key[:8], f"{problem.network}; {_learns(problem)}",
            s.work["settings"]["engine"], str(s.work["seed"]), str(s.trials), str(s.matched),
            str(s.unmatched), str(s.undetermined),
        )  # fmt: skip
    out.print(grid)
