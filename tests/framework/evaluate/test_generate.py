import pytest
import torch

from framework.contracts import BOS, EOS, PAD
from framework.evaluate.generate import Outputs, generate
from framework.model.transformer import positions_of
from framework.spec import EvaluateSpec
from framework.testing.device import elsewhere, moved
from plugins.objectives.next_token import NextToken


@pytest.fixture
def sources(workshop):
    return workshop.data.split("dev").sources(torch.arange(16))


def greedy(workshop, model, source, limit):
    """One piece at a time, the whole prefix read anew each time, nothing cached."""
    model.eval()
    pieces: list[int] = []
    while len(pieces) < limit:
        batch = workshop.objective.batch([source], [torch.tensor(pieces, dtype=torch.int64)], torch.Generator())
        with torch.no_grad():
            logits = model(batch)[0, -1]  # (V,)
        logits[[PAD, BOS]] = -torch.inf
        if (piece := int(logits.argmax())) == EOS:
            break
        pieces.append(piece)
    return pieces


def test_a_trained_model_copies_its_sources_in_their_order(workshop, trained, sources):
    found = generate(trained, workshop.objective, sources, EvaluateSpec(batch_tokens=60))
    assert found == Outputs([source.tolist() for source in sources], cut_off=0)


@pytest.mark.parametrize("score", ["dot_product", "additive"])
def test_a_beam_of_one_is_greedy_decoding_without_a_cache(workshop, sources, score):
    model = workshop.model(attention_score=score)  # untrained: rambles on to its limit
    found = generate(model, workshop.objective, sources, EvaluateSpec(beam_size=1, max_extra_tokens=5))
    assert found.pieces == [greedy(workshop, model, source, len(source) + 5) for source in sources]


@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize("batch_tokens", [1, 40, 130])
def test_a_translation_does_not_depend_on_its_batch(workshop, sources, beam_size, batch_tokens):
    model = workshop.model(seed=3)
    together = EvaluateSpec(beam_size=beam_size, max_extra_tokens=4, batch_tokens=10_000)
    apart = together.model_copy(update={"batch_tokens": batch_tokens})
    assert generate(model, workshop.objective, sources, together) == generate(model, workshop.objective, sources, apart)


def test_a_translation_depends_neither_on_the_order_nor_on_who_is_left_out(workshop, sources):
    model, spec = workshop.model(seed=3), EvaluateSpec(max_extra_tokens=4)
    all_of_them = generate(model, workshop.objective, sources, spec).pieces
    backwards = generate(model, workshop.objective, sources[::-1], spec).pieces
    assert backwards == all_of_them[::-1]
    assert generate(model, workshop.objective, sources[3:6], spec).pieces == all_of_them[3:6]


def test_output_stays_within_the_source_and_its_extra_pieces(workshop, sources):
    found = generate(workshop.model(), workshop.objective, sources, EvaluateSpec(max_extra_tokens=2))
    assert all(len(pieces) <= len(source) + 2 for pieces, source in zip(found.pieces, sources, strict=True))
    assert found.cut_off == 0


def test_output_ends_at_the_last_position_the_model_tells_apart_and_says_so(workshop):
    model = workshop.model(positional_scheme={"name": "learned", "options": {"max_positions": 41}})
    with torch.no_grad():
        model.source_table.weight[EOS] = 0  # and so never the most likely piece
    source = torch.arange(3, 33)
    found = generate(model, workshop.objective, [source], EvaluateSpec(beam_size=1))
    assert [len(pieces) for pieces in found.pieces] == [40]  # BOS takes the first of 41
    assert found.cut_off == 1


def test_nothing_to_translate_is_nothing(workshop, trained):
    assert generate(trained, workshop.objective, [], EvaluateSpec()) == Outputs([], 0)


def test_translating_is_evaluation(workshop, sources):
    model = workshop.model(dropout=0.5).train()
    spec = EvaluateSpec(max_extra_tokens=3)
    assert generate(model, workshop.objective, sources, spec) == generate(model, workshop.objective, sources, spec)


def continued(model, prompt, limit):
    """One piece at a time behind a prompt, everything read anew each time."""
    pieces: list[int] = []
    while len(pieces) < limit:
        sequence = torch.cat([prompt, torch.tensor(pieces, dtype=torch.int64)])[None]
        with torch.no_grad():
            logits, _ = model.decode(sequence, positions_of(sequence), torch.ones_like(sequence, dtype=torch.bool))
        logits = logits[0, -1]  # (V,)
        logits[[PAD, BOS]] = -torch.inf
        if (piece := int(logits.argmax())) == EOS:
            break
        pieces.append(piece)
    return pieces


@pytest.mark.parametrize("mixer", ["attention", "recurrent", "convolution"])
def test_a_decoder_alone_goes_on_from_sources_of_any_length(workshop, sources, mixer):
    model = workshop.model(architecture="decoder_only", mixer=mixer).eval()
    objective = NextToken(NextToken.Options())
    spec = EvaluateSpec(beam_size=1, max_extra_tokens=3, batch_tokens=100)
    found = generate(model, objective, sources, spec)
    begin, end = torch.tensor([BOS]), torch.tensor([EOS])
    prompts = [torch.cat([begin, source, end]) if len(source) else begin for source in sources]
    assert found.pieces == [
        continued(model, prompt, len(source) + 3) for prompt, source in zip(prompts, sources, strict=True)
    ]


def test_a_prompt_takes_some_of_the_last_positions(workshop):
    scheme = {"name": "learned", "options": {"max_positions": 41}}
    model = workshop.model(architecture="decoder_only", positional_scheme=scheme)
    with torch.no_grad():
        model.table.weight[EOS] = 0
    found = generate(model, NextToken(NextToken.Options()), [torch.arange(3, 23)], EvaluateSpec(beam_size=1))
    assert [len(pieces) for pieces in found.pieces] == [19]  # behind BOS, 20 pieces and EOS
    assert found.cut_off == 1


def test_what_a_prompt_draws_does_not_depend_on_its_batch(workshop, sources):
    class Drawn(NextToken):
        def batch(self, sources, targets, generator):
            chosen = [source[torch.rand(len(source), generator=generator) < 0.5] for source in sources]
            return super().batch(chosen, targets, generator)

    model, objective = workshop.model(architecture="decoder_only"), Drawn(NextToken.Options())
    one, all_ = (EvaluateSpec(beam_size=1, max_extra_tokens=2, batch_tokens=size) for size in (1, 10_000))
    assert generate(model, objective, sources, one) == generate(model, objective, sources, all_)


@pytest.mark.parametrize("architecture", ["encoder_decoder", "decoder_only"])
def test_a_model_generates_on_its_own_device(workshop, sources, architecture):
    objective = workshop.objective if architecture == "encoder_decoder" else NextToken(NextToken.Options())
    spec = EvaluateSpec(max_extra_tokens=2)
    model = workshop.model(architecture=architecture, seed=3)
    here = generate(model, objective, sources, spec)
    with elsewhere():
        moved(model)
        assert generate(model, objective, sources, spec) == here
