"""What is told of each wrong positional scheme."""

from __future__ import annotations

BROKEN = (
    # mutant, the property that it breaks, what is said of it, and what else is broken by it
    ("counts_from_zero", "by_position", "asked about positions from 3 on than about all", ("max_positions",)),
    ("bias_by_place", "by_position", "bias gives something else at (0, 0, 0, 0)", ()),
    ("one_row", "max_positions", "position 1 is taken as if it were another one", ("gradients",)),
    ("wraps", "max_positions", "position 64 is taken as if it were another one", ()),
    ("says_no_limit", "max_positions", "does not know position 5000 (SpecError)", ()),
    ("fails_in_torch", "max_positions", "fails at the first position that there is not with Ind", ()),
    ("transposed", "shape", "(1, H, 4, 3), and must give (B|1, H|1, Q, K), or None", ()),
    ("halves", "shape", "of shape (B, H, 3, 4), and must give the shape that it is", ()),
    ("centred_over_the_batch", "batch_rows", "embed lets rows of a batch meet", ("by_position", "one_row")),
    ("adds_in_place", "input_unchanged", "embed changes its x in place", ()),
    ("on_the_cpu", "device", "mul is given tensors on two devices", ()),
    (
        "in_steps",
        "by_position",
        "embed gives something else at (0, 1, 0) when asked about positions in another order",
        (),
    ),
    ("bias_by_the_first_row", "by_position", "when asked about other positions in each row than", ()),
    ("real_limit", "max_positions", "max_positions is 64.0, and must be a number of positions", ()),
    ("squeezes", "length_one", "embed gives a tensor of torch.float32 of shape (2, 12)", ()),
)
