"""Root counters that stand in for those of other programs."""

from algebra.declarations import TRACE
from algebra.systems.root_count import RootCount, TraceEvidence


def by_trace(value):
    """A numerical counter that always gives this number; `seeds` of it are those it was given."""

    def count(allocation, support, seed):
        count.seeds.append(seed)
        return RootCount(value, TRACE, "B", (), (), seed, TraceEvidence(9, "0", "1e-9", "1"))

    count.seeds = []
    return count
