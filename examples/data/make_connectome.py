"""Makes connectome.csv and neurons.csv, a synthetic wiring diagram in the shape of a real one.

    python examples/data/make_connectome.py

It is not data about an animal: 48 neurons, sensory, inter- and motor neurons in about the
proportions of a small nervous system, with heavy-tailed numbers of contacts, hubs among the
interneurons and mostly feed-forward flow.  The same seed makes the same files.
"""

import csv
import random
from pathlib import Path

import networkx as nx

FOLDER = Path(__file__).parent
SIZES = {"sensory": 12, "inter": 22, "motor": 14}
# How likely a synapse is, from class to class.
CHANCE = {
    ("sensory", "sensory"): 0.02, ("sensory", "inter"): 0.22, ("sensory", "motor"): 0.04,
    ("inter", "sensory"): 0.03, ("inter", "inter"): 0.16, ("inter", "motor"): 0.20,
    ("motor", "sensory"): 0.01, ("motor", "inter"): 0.05, ("motor", "motor"): 0.10,
}  # fmt: skip


def make(seed: int = 302) -> nx.DiGraph:
    """The graph: nodes with `kind`, edges with `contacts`."""
    rng = random.Random(seed)
    graph = nx.DiGraph()
    for kind, size in SIZES.items():
        for k in range(size):
            graph.add_node(f"{kind[0].upper()}{k + 1:02d}", kind=kind, hub=rng.paretovariate(2.5))
    for pre, a in graph.nodes(data=True):
        for post, b in graph.nodes(data=True):
            chance = CHANCE[a["kind"], b["kind"]] * min(3.0, a["hub"] * b["hub"]) / 1.6
            if pre != post and rng.random() < chance:
                contacts = max(1, round(rng.lognormvariate(1.8, 0.7)))
                graph.add_edge(pre, post, contacts=contacts)
    return graph


def main() -> None:
    """Write both files."""
    graph = make()
    with (FOLDER / "connectome.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(["pre", "post", "contacts"])
        table.writerows((pre, post, n) for pre, post, n in graph.edges(data="contacts"))
    with (FOLDER / "neurons.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(["neuron", "kind"])
        table.writerows(graph.nodes(data="kind"))
    print(f"{graph.number_of_nodes()} neurons, {graph.number_of_edges()} connections")


if __name__ == "__main__":
    main()
