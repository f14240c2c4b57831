"""What the core does without: it names these folders in lists, and imports none of them.

circuits/       What has to be recorded of a circuit so that the data determine its weights
models/         Models from files and modules: readers, verdicts, capacities
normalization/  Networks whose normalization layers learn
papers/         What the papers state, and what holds for many allocations of a network at once
relu/           Shallow ReLU networks: patterns, decisions with proofs, verdicts
"""
