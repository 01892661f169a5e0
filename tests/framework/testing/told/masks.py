"""What is told of each wrong mask."""

from __future__ import annotations

BROKEN = (
    # mutant, the property that it breaks, what is said of it, and what else is broken by it
    ("inverted", "sees_something", "position 1 of 64 may see nothing, not itself either", ()),
    ("numbers", "shape", "allowed gives a tensor of torch.int32, and must give a boolean tensor", ()),
    ("by_place", "by_position", "key position 0 when asked about the last query alone than about all", ()),
    ("transposed", "shape", "allowed gives shape (B, 1, 4, 3) for 3 queries and 4 keys", ()),
    ("on_the_cpu", "device", "bitwise_and is given tensors on two devices", ()),
    ("shifts", "input_unchanged", "allowed changes its query_positions in place", ()),
    ("scores_the_prefix", "no_future", "position 0 sees the token at position 1, which it has to say", ()),
    ("by_way_of_the_first", "no_future", "and scored leaves that token in the loss", ()),
    ("scores_numbers", "scored", "scored gives a tensor of torch.int64 of shape (1, 64)", ()),
    ("scores_by_place", "scored", "scored says something else of a position", ()),
    ("two_heads", "no_future", "position 0 sees the token at position 1, which it has to say", ()),
    ("landmarks", "no_future", "position 0 sees the token at position 1, which it has to say or to come", ()),
    ("crosses_rows", "shape", "allowed gives shape (B, 2, 3, 4) for 3 queries and 4 keys", ()),
    ("first_row", "by_position", "when asked about other positions in each row than about all", ()),
    ("squeezes", "length_one", "allowed gives shape (1, 1, 1) for 1 queries and 1 keys", ()),
)
