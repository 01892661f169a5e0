"""What is told of each wrong feed forward."""

from __future__ import annotations

BROKEN = (
    # mutant, the property that it breaks, what is said of it, and what else is broken by it
    ("mixes_positions", "positionwise", "forward mixes positions: position 1 changed when position 0 did", ()),
    (
        "normalised_over_the_batch",
        "batch_rows",
        "(0, 0) when the others did, in training",
        ("positionwise", "after_training"),
    ),
    ("root_of_zero", "zero_vectors", "is not finite, for vectors of zeros", ()),
    ("narrows", "shape", "forward gives shape (2, 3, 11) for x of shape (2, 3, 12)", ()),
    ("on_the_cpu", "device", "add is given tensors on two devices", ()),
    ("detaches", "gradients", "parameter 'inner.weight' gets no gradient", ()),
    ("squeezes", "length_one", "forward gives shape (2, 12) for x of shape (2, 1, 12)", ()),
    ("scales_in_place_in_training", "input_unchanged", "forward changes its x in place", ()),
)
