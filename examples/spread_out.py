"""Is spread out better? The first paper's rule of thumb against exact verdicts.

    python examples/spread_out.py

"A more widespread allocation generally enhances the network's expressive power."  For every
allocation of dm weights of W in small recurrent nets the exact verdict, by how many rows (neurons
that receive) and columns (that send) the weights lie in: how often MP > 0, how often MP is
certified to be 1.  Then two designs, the most concentrated and the most spread of those that are
not minimal.
"""

from collections import Counter, defaultdict

import matchprob as mp
from algebra.problems.symmetry import SymmetryGroup

NETS = [
    mp.LinearRNN(n=3, T=2, b=1, d=1, m=2),
    mp.LinearRNN(n=3, T=2, b=1, d=2, m=2),
    mp.LinearRNN(n=3, T=3, b=1, d=1, m=3),
    mp.LinearRNN(n=3, T=2, b=2, d=1, m=4),
]


def by_lines(network: mp.LinearRNN) -> tuple[dict[int, Counter[str]], dict[int, Counter[str]]]:
    """For each number of rows, and of columns, that learn: the verdicts of all allocations."""
    found = mp.atlas(network, network.outputs, matrices=["W"], search=1.0)
    group = SymmetryGroup(network, ["W"])
    position = {cell: k for k, cell in enumerate(group.cells)}
    tables: list[dict[int, Counter[str]]] = [defaultdict(Counter), defaultdict(Counter)]
    for entry in found.entries:
        for image in group.orbit([position[cell] for cell in entry.cells]):
            for table, axis in zip(tables, (1, 2), strict=True):
                table[len({group.cells[k][axis] for k in image})][entry.verdict] += 1
    rows, columns = (dict(sorted(table.items())) for table in tables)
    return rows, columns


def share(count: int, total: int) -> str:
    """A percentage."""
    return f"{100 * count / total:4.0f} %"


def yes(shares: list[float]) -> str:
    """Whether shares never fall."""
    return "yes" if shares == sorted(shares) else "no"


def main() -> None:
    """One table a net, then what it says."""
    for network in NETS:
        full = network.T * min(network.b, network.m), network.T * min(network.d, network.m)
        print(
            f"{network}: {network.outputs} weights of W, at most {full[0]} count in a row, "
            f"{full[1]} in a column"
        )
        for line, table in zip(("rows", "columns"), by_lines(network), strict=True):
            print(f"  {line:>7}  allocations   MP > 0   MP = 1 certified")
            for lines, tally in table.items():
                total = sum(tally.values())
                alive = total - tally["minimal"]
                print(
                    f"  {lines:7d}  {total:11d}   {share(alive, total)}   "
                    f"{share(tally['maximal'], total)}"
                )
            alive = [1 - t["minimal"] / sum(t.values()) for t in table.values()]
            surely = [t["maximal"] / sum(t.values()) for t in table.values()]
            print(
                f"  more {line}, more often MP > 0: {yes(alive)}; more often MP = 1: {yes(surely)}"
            )
        few = mp.design(mp.Problem(network, {}), goal="neurons", matrices=["W"])
        wide = mp.design(mp.Problem(network, {}), goal="spread", matrices=["W"])
        for name, found in (("fewest rows", few), ("most spread", wide)):
            verdict = mp.certify(mp.Problem.of(found.allocation), search=1.0)
            print(f"  {name}: {found.allocation}: {verdict.verdict}, {verdict.rule}")
        print()


if __name__ == "__main__":
    main()
