"""What is told of each wrong objective."""

from __future__ import annotations

BROKEN = (
    # mutant, the property that it breaks, what is said of it, and what else is broken by it
    ("scores_padding", "batch", "batch has scored True at padding", ()),
    ("scores_nothing", "batch", "batch scores no token at all", ()),
    ("outside_the_vocabulary", "batch", "gives a target_input of ids from 0 to 1000 for a vocabulary of 20", ()),
    ("without_source", "batch", "batch gives no source with a padding of its shape", ()),
    ("unknown_architecture", "metrics", "architectures names decoder_alone, which there is not", ()),
    ("learns_nothing", "loss", "loss has no finite gradient for the logits", ()),
    ("forgets_the_end", "lengths", "lengths gives 9 for a source of 5 pieces and a target of 4", ()),
    ("draws_by_itself", "cut_otherwise", "another scored for the same examples and an equal generator", ()),
    ("draws_for_the_batch", "cut_otherwise", "gives example 1 another scored among others than by itself", ()),
    ("sees_the_answer", "next_token", "a target_output that is not target_input one position later", ("prompt",)),
    ("nothing_to_start_from", "prompt", "gives an empty target_input for an empty target", ()),
    ("changes_examples", "input_unchanged", "batch changes an example in place", ()),
    ("mean_loss", "batch_rows", "for a batch whose examples alone have", ()),
    ("counts_everything", "loss", "are scored: the mean that is reported divides by", ()),
    ("reads_unscored_logits", "loss", "loss depends on logits where nothing is scored", ()),
    ("half_precision", "loss", "loss is summed in torch.bfloat16 for logits in bfloat16", ()),
    ("unknown_metric", "metrics", "it names the metric 'kindness', and per_token gives accuracy", ()),
    ("per_sentence", "metrics", "per_token gives 'accuracy' of shape (3,)", ()),
    ("reads_padding_of_the_source", "cut_otherwise", "gives a source_padding for example 1 that does not say True", ()),
    ("source_outside_the_vocabulary", "batch", "gives a source of ids from 1000 to 10", ()),
    ("source_in_numbers", "batch", "gives source of torch.float32 and shape (3, 6), and must give torch.int64", ()),
    ("reads_padding", "cut_otherwise", "gives a target_padding for example 1 that does not say", ("next_token",)),
    ("starts_elsewhere", "prompt", "with an empty target something else than what stands", ()),
    ("measures_loss", "metrics", "per_token gives 'loss', which the framework makes itself", ()),
    ("measures_infinity", "metrics", "a value that is not finite where a token is scored", ()),
    ("above_the_mean", "metrics", "gives 'accuracy' another value for an example among others", ()),
)
