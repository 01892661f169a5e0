"""Each deliberately broken plugin is caught, by the name of the property that it breaks; those that are right pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.registry import Entry, Registry
from framework.testing.verdict import verdicts

MUTANTS = Path(__file__).parent / "mutants"

RIGHT = {
    "attention_score": ("right",),
    "positional_scheme": ("right",),
    "mask": ("right", "sees_the_prefix"),
    "mixer": ("right", "attends"),
    "feed_forward": ("right",),
    "objective": ("right",),
    "corpus": ("right", "overlaps"),
}

BROKEN = [
    # kind, mutant, the property that it breaks, what is said of it, and what else is broken by it
    ("attention_score", "by_their_deviation", "pairwise", "a score sees one query and one key at a time", ()),
    ("attention_score", "softmaxed", "pairwise", "entry (0, 1) changed when key 0 did", ()),
    ("attention_score", "looks_ahead", "pairwise", "compute it from query 0 and key 3 alone", ()),
    ("attention_score", "by_place", "pairwise", "when other queries were left out", ()),
    ("attention_score", "normalised_over_the_batch", "batch_rows", "when the others did, in training", ()),
    ("attention_score", "changes_its_input", "input_unchanged", "changes its query in place", ()),
    ("attention_score", "on_the_cpu", "device", "RuntimeError: mul is given tensors on two devices", ()),
    ("attention_score", "root_of_zero", "zero_vectors", "gives 'query' a gradient that is not finite", ()),
    (
        "attention_score",
        "hides",
        "finite",
        "for a random input, and must be finite: leave hiding",
        ("dtype", "gradients", "zero_vectors"),
    ),
    ("attention_score", "single", "dtype", "gives torch.float32 for torch.bfloat16, and must keep the dtype", ()),
    ("attention_score", "transposed", "shape", "gives shape (B, H, 4, 3) for 3 queries and 4 keys", ()),
    ("attention_score", "squeezes", "length_one", "gives shape (2, 6) for 1 query and 1 key", ("pairwise", "one_row")),
    (
        "attention_score",
        "squeezes",
        "one_row",
        "something else for a batch of one, of shape (6, 3, 4)",
        ("pairwise", "length_one"),
    ),
    ("attention_score", "misspelt", "shape", "AttributeError: 'Options' object has no attribute 'scael' (", ()),
    ("attention_score", "other_features", "fused_equals_plain", "features and forward give contexts 0.", ()),
    ("attention_score", "never_used", "gradients", "gets no gradient: no result depends on it", ()),
    ("attention_score", "filled_in_the_constructor", "reset_parameters", "'scale' keeps what stood in memory", ()),
    ("attention_score", "not_filled", "reset_parameters", "owns scale and has no reset_parameters()", ()),
    ("attention_score", "not_saved", "save_and_load", "gives something else once saved and loaded", ()),
    ("attention_score", "drops_out_always", "deterministic", "gives something else in a second call", ()),
    (
        "attention_score",
        "keeps_count",
        "after_training",
        "something else after a call in training",
        ("pairwise", "batch_rows", "save_and_load"),
    ),
    ("attention_score", "takes_any_option", "unknown_option", "Options takes no_such_option=1, which it does not", ()),
    ("attention_score", "takes_any_option_inside", "unknown_option", "Loose, inside of the options, takes keys", ()),
    ("attention_score", "reads_back_other", "options_in_json", 'are read back as {"scale":0.25}', ()),
    (
        "attention_score",
        "needs_an_option",
        "samples",
        "samples gives the defaults, which Options refuses at exponent",
        (),
    ),
    ("attention_score", "no_samples", "samples", "samples gives no options, so that nothing can be tried", ()),
    ("attention_score", "terse", "docstring", "the docstring begins with 'A score.'", ()),
    (
        "positional_scheme",
        "counts_from_zero",
        "by_position",
        "asked about positions from 3 on than about all",
        ("max_positions",),
    ),
    ("positional_scheme", "bias_by_place", "by_position", "bias gives something else at (0, 0, 0, 0)", ()),
    ("positional_scheme", "one_row", "max_positions", "position 1 is taken as if it were another one", ()),
    ("positional_scheme", "wraps", "max_positions", "position 64 is taken as if it were another one", ()),
    ("positional_scheme", "says_no_limit", "max_positions", "does not know position 5000 (SpecError)", ()),
    (
        "positional_scheme",
        "fails_in_torch",
        "max_positions",
        "fails at the first position that there is not with Ind",
        (),
    ),
    ("positional_scheme", "transposed", "shape", "(1, H, 4, 3), and must give (B|1, H|1, Q, K), or None", ()),
    ("positional_scheme", "halves", "shape", "of shape (B, H, 3, 4), and must give the shape that it is", ()),
    (
        "positional_scheme",
        "centred_over_the_batch",
        "batch_rows",
        "embed lets rows of a batch meet",
        ("by_position", "one_row"),
    ),
    ("positional_scheme", "adds_in_place", "input_unchanged", "embed changes its x in place", ()),
    ("positional_scheme", "on_the_cpu", "device", "mul is given tensors on two devices", ()),
    ("mask", "inverted", "sees_something", "position 1 of 8 may see nothing, not itself either", ()),
    ("mask", "numbers", "shape", "allowed gives a tensor of torch.int32, and must give a boolean tensor", ()),
    ("mask", "by_place", "by_position", "key position 0 when asked about the last query alone than about all", ()),
    ("mask", "transposed", "shape", "allowed gives shape (B, 1, 4, 3) for 3 queries and 4 keys", ()),
    ("mask", "on_the_cpu", "device", "bitwise_and is given tensors on two devices", ()),
    ("mask", "shifts", "input_unchanged", "allowed changes its query_positions in place", ()),
    ("mask", "scores_the_prefix", "no_future", "position 0 sees the token at position 1, which it has to say", ()),
    ("mask", "by_way_of_the_first", "no_future", "and scored leaves that token in the loss", ()),
    ("mask", "scores_numbers", "scored", "scored gives a tensor of torch.int64 of shape (1, 8)", ()),
    ("mask", "scores_by_place", "scored", "scored says something else of a position", ()),
    ("mixer", "reads_padding", "padding", "when what stands at the padding of x did", ()),
    ("mixer", "counts_padding", "padding", "forward counts padding: position 0 changed", ()),
    ("mixer", "mean_of_nothing", "blind_row", "nan at (0, 0, 0) for a row of nothing but padding", ()),
    ("mixer", "adds_infinity", "blind_row", "gradients that are not finite for a row of nothing but padding", ()),
    (
        "mixer",
        "knows_the_length",
        "no_future",
        "when those from 1 on were left out",
        ("padding", "cached_decoding", "beam_reorder"),
    ),
    (
        "mixer",
        "sees_ahead",
        "no_future",
        "forward sees the future: position 0 changed when those from 1 on did",
        ("padding", "cached_decoding", "beam_reorder"),
    ),
    (
        "mixer",
        "forgets_the_last",
        "cached_decoding",
        "in steps of 1, 1, 1, 1, 1, 1 gives something else than",
        ("beam_reorder",),
    ),
    (
        "mixer",
        "restarts_positions",
        "cached_decoding",
        "in steps of 1, 3, 2 gives something else than",
        ("beam_reorder",),
    ),
    ("mixer", "no_state_after", "cached_decoding", "forward gives a NoneType after a state", ("beam_reorder",)),
    ("mixer", "never_reorders", "beam_reorder", "after reorder, row 0 goes on with another row's past", ()),
    ("mixer", "always_a_state", "shape", "forward gives a Sums where it is given no state", ()),
    ("mixer", "centred_over_the_batch", "batch_rows", "forward lets rows of a batch meet", ("padding", "one_row")),
    ("mixer", "drops_out_always", "deterministic", "draw numbers and keep count in training only", ()),
    ("mixer", "widens", "shape", "forward gives shape (2, 3, 24) for x of shape (2, 3, 12)", ()),
    ("mixer", "on_the_cpu", "device", "made here without saying where", ()),
    ("mixer", "names_what_there_is_not", "takes", "takes names masks, and a mixer can take mask, attention_score", ()),
    ("mixer", "says_it_masks", "takes", "takes names 'mask', and forward gives the same with another one", ()),
    ("mixer", "says_it_rotates", "takes", "takes names 'rotation', and forward gives the same with", ()),
    (
        "mixer",
        "takes_the_mask_inverted",
        "takes",
        "takes names 'mask', and position 2 changed when one did that the",
        ("no_future", "padding", "cached_decoding", "beam_reorder", "blind_row"),
    ),
    (
        "mixer",
        "adds_the_mask",
        "takes",
        "changed when one did that the mask hides from it",
        ("no_future", "padding", "cached_decoding", "beam_reorder", "blind_row"),
    ),
    (
        "feed_forward",
        "mixes_positions",
        "positionwise",
        "forward mixes positions: position 1 changed when position 0 did",
        (),
    ),
    (
        "feed_forward",
        "normalised_over_the_batch",
        "batch_rows",
        "(0, 0) when the others did, in training",
        ("positionwise", "after_training"),
    ),
    ("feed_forward", "root_of_zero", "zero_vectors", "is not finite, for vectors of zeros", ()),
    ("feed_forward", "narrows", "shape", "forward gives shape (2, 3, 11) for x of shape (2, 3, 12)", ()),
    ("feed_forward", "on_the_cpu", "device", "add is given tensors on two devices", ()),
    ("feed_forward", "detaches", "gradients", "parameter 'inner.weight' gets no gradient", ()),
    ("objective", "scores_padding", "batch", "batch has scored True at padding", ()),
    ("objective", "scores_nothing", "batch", "batch scores no token at all", ()),
    (
        "objective",
        "outside_the_vocabulary",
        "batch",
        "gives ids from 0 to 1000 for a vocabulary of 20",
        (),
    ),
    ("objective", "without_source", "batch", "batch gives no source with a padding of its shape", ()),
    ("objective", "unknown_architecture", "metrics", "architectures names decoder_alone, which there is not", ()),
    ("objective", "learns_nothing", "loss", "loss has no finite gradient for the logits", ()),
    ("objective", "forgets_the_end", "lengths", "lengths gives 9 for a source of 5 pieces and a target of 4", ()),
    (
        "objective",
        "draws_by_itself",
        "cut_otherwise",
        "another scored for the same examples and an equal generator",
        (),
    ),
    (
        "objective",
        "draws_for_the_batch",
        "cut_otherwise",
        "gives example 1 another scored among others than by itself",
        (),
    ),
    ("objective", "sees_the_answer", "next_token", "a target_output that is not target_input one position later", ()),
    ("objective", "nothing_to_start_from", "prompt", "gives an empty target_input for an empty target", ()),
    ("objective", "changes_examples", "input_unchanged", "batch changes an example in place", ()),
    ("objective", "mean_loss", "batch_rows", "for a batch whose examples alone have", ()),
    ("objective", "counts_everything", "loss", "are scored: the mean that is reported divides by", ()),
    ("objective", "reads_unscored_logits", "loss", "loss depends on logits where nothing is scored", ()),
    ("objective", "half_precision", "loss", "loss is summed in torch.bfloat16 for logits in bfloat16", ()),
    ("objective", "unknown_metric", "metrics", "it names the metric 'kindness', and per_token gives accuracy", ()),
    ("objective", "per_sentence", "metrics", "per_token gives 'accuracy' of shape (3,)", ()),
    ("corpus", "no_dev", "splits", "splits gives train, valid and lacks dev", ()),
    ("corpus", "names_twice", "splits", "splits gives a name twice: train, dev, dev", ()),
    ("corpus", "empty_split", "splits", "'dev' is empty: leave its name out", ()),
    ("corpus", "numbers", "text", "gives Pair(source=0, target=1) at 0, and must give str", ("fingerprint",)),
    ("corpus", "text_with_source", "text", "a text corpus gives the source 'so'", ()),
    ("corpus", "shuffles", "order", "gives other examples the second time, from number 0 on", ("fingerprint",)),
    ("corpus", "used_up", "order", "pairs of 'train' gives other examples the second time", ()),
    ("corpus", "by_time", "fingerprint", "fingerprint gives something else for the same corpus each time", ()),
]


@pytest.fixture(scope="module")
def mutants() -> tuple[dict[tuple[str, str], Entry], Registry]:
    registry = Registry.load([MUTANTS])
    assert not registry.broken
    files = {str(file) for file in MUTANTS.glob("*.py")}
    return {(entry.kind, entry.name): entry for entry in registry.entries() if entry.origin in files}, registry


def broken(mutants, kind, name):
    entries, registry = mutants
    return {verdict.property: verdict.broken for verdict in verdicts(entries[kind, name], registry) if verdict.broken}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in RIGHT.items() for name in names])
def test_a_right_plugin_keeps_every_property(mutants, kind, name):
    assert broken(mutants, kind, name) == {}


@pytest.mark.parametrize(("kind", "name", "tried", "words", "besides"), BROKEN)
def test_a_mutant_is_caught_by_the_property_that_it_breaks(mutants, kind, name, tried, words, besides):
    found = broken(mutants, kind, name)
    assert set(found) == {tried, *besides}
    assert any(words in said for said in found[tried]), found[tried]


def test_every_mutant_is_in_the_table(mutants):
    entries, _ = mutants
    told = {(kind, name) for kind, name, *_ in BROKEN} | {(kind, name) for kind in RIGHT for name in RIGHT[kind]}
    assert told == set(entries)
    assert len(told) > 80


def test_every_property_catches_a_mutant():
    from framework.testing import settings
    from framework.testing.kinds import PROPERTIES

    caught = {(kind, tried) for kind, _, tried, _, besides in BROKEN for tried in (tried, *besides)}
    of_all = {tried.name for tried in settings.PROPERTIES}
    names = {tried.name for properties in PROPERTIES.values() for tried in properties} | of_all
    told_only = {"disjoint"}  # a note, no judgement
    assert names - told_only == {tried for _, tried in caught}
