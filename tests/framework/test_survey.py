"""What can be known before anything is trained: sizes, standings, and parts that do not fit each other."""

from __future__ import annotations

import contextlib
import io
import textwrap
from collections import Counter

import pytest

from framework.errors import SpecError
from framework.experiment import load
from framework.journal import TrialFolder
from tests.framework.tiny_experiment import write


def problems_of(path, plugins=()):
    with pytest.raises(SpecError) as refused:
        load(path, home=path.parent / "home", plugins=plugins).survey()
    return refused.value.problems


def line_of(path, text):
    """Line and column of the first place where `text` stands in a file."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if text in line:
            return number, line.index(text) + 1
    raise AssertionError(f"{text!r} is not in {path}")


def test_a_trial_is_surveyed_without_training(tmp_path):
    experiment = load(write(tmp_path, seeds=[1, 2]), home=tmp_path / "home")
    lines = experiment.survey()
    assert [(line.trial.row, line.trial.seed, line.status) for line in lines] == [
        ("base", 1, "to do"),
        ("base", 2, "to do"),
        ("one-head", 1, "to do"),
        ("one-head", 2, "to do"),
    ]
    assert not (tmp_path / "home").exists()


def test_parameters_are_those_of_the_model_that_is_built(tmp_path):
    from framework.model.assemble import assemble
    from framework.model.transformer import num_parameters

    experiment = load(write(tmp_path, {"base": {}, "wide": {"change": {"model.d_ff": 64}}}), home=tmp_path)
    for line in experiment.survey():
        assert line.parameters == num_parameters(assemble(line.trial.model, line.trial.data, experiment.registry))


@pytest.mark.parametrize("chosen", [(), ("one-head",)])
def test_derived_sizes_are_those_that_differ_from_the_baseline(tmp_path, chosen):
    """Whichever rows are chosen."""
    rows = {
        "one-head": {"change": {"model.num_heads": 1}},
        "stated": {"change": {"model.num_heads": 1, "model.d_k": 16}},
        "base": {},
    }
    experiment = load(write(tmp_path, rows), home=tmp_path, rows=chosen)
    derived = {line.trial.row: line.derived for line in experiment.survey()}
    assert derived["one-head"] == {"d_k": 16, "d_v": 16}
    if not chosen:
        assert derived == {"one-head": {"d_k": 16, "d_v": 16}, "stated": {"d_v": 16}, "base": {}}


def test_standings_are_read_from_the_folders(tmp_path):
    experiment = load(write(tmp_path), home=tmp_path)
    base, one_head = experiment.plan()
    TrialFolder(tmp_path, str(base.train_key)).add_failure("RuntimeError: no memory", "")
    with TrialFolder(tmp_path, str(one_head.train_key)).lock():
        assert [line.status for line in experiment.survey()] == ["failed", "running"]
    assert [line.status for line in experiment.survey()] == ["failed", "to do"]


def test_positions_too_few_for_the_data_are_placed_at_the_row_that_asks_for_them(tmp_path):
    learned = {"name": "learned", "options": {"max_positions": 8}}
    path = write(tmp_path, {"base": {}, "learned": {"change": {"model.positional_scheme": learned}}})
    (problem,) = problems_of(path)
    line, column = line_of(path, "model.positional_scheme")
    assert str(problem) == (
        f"{path}:{line}:{column}: rows.learned.change.model.positional_scheme: 'learned' has 8 positions, and "
        "an example of data.max_pieces=100 takes 101 positions, special pieces included: give it more, or lower "
        "data.max_pieces"
    )


def test_an_unknown_metric_is_placed(tmp_path):
    path = write(tmp_path, evaluate={"metrics": ["perplexity", "blue"]})
    (problem,) = problems_of(path)
    line, column = line_of(path, "metrics:")
    assert str(problem) == (
        f"{path}:{line}:{column}: evaluate.metrics: objective 'translation' has no metric 'blue'; "
        "it has: perplexity, bleu, accuracy, exact_match, bleu_compound_split, chrf, "
        "smoothed_perplexity, word_perplexity; did you mean 'bleu'?"
    )


def test_a_choice_that_a_mixer_ignores_is_placed(tmp_path):
    change = {"model.mixer": "none", "model.sites.encoder.self.mask": "causal"}
    path = write(tmp_path, {"base": {}, "mute": {"change": change}})
    (problem,) = problems_of(path)
    line, column = line_of(path, "model.sites.encoder.self.mask")
    assert str(problem).startswith(f"{path}:{line}:{column}: rows.mute.change.model.sites.encoder.self.mask: ")
    assert "takes no mask" in str(problem)


def test_every_misfit_is_told_at_once(tmp_path):
    few = {"name": "learned", "options": {"max_positions": 8}}
    rows = {
        "base": {},
        "few": {"change": {"model.positional_scheme": few}},
        "blue": {"change": {"evaluate.metrics": ["blue"]}},
        "few-too": {"change": {"model.positional_scheme": few, "model.d_ff": 8}},
    }
    assert [problem.path.split(".")[1] for problem in problems_of(write(tmp_path, rows))] == ["few", "blue", "few-too"]


def test_one_misfit_of_all_rows_is_told_once(tmp_path):
    assert len(problems_of(write(tmp_path, evaluate={"metrics": ["blue"]}))) == 1


def plugin(folder, contract, body):
    """Write a plugin named `mine`; `body` is what its class holds."""
    hook = {"Objective": "objective", "AttentionScore": "attention_score", "Mask": "mask"}[contract]
    path = folder / "mine.py"
    path.write_text(
        '"""Made for a test."""\n\nimport torch\n\nimport framework as fw\n\n\n'
        f'class Mine(fw.{contract}):\n    name = "mine"\n'
        + textwrap.indent(textwrap.dedent(body), "    ")
        + f"\n\n@fw.hookimpl\ndef {hook}():\n    return Mine\n"
    )
    return path


def test_an_objective_for_other_architectures_is_placed(tmp_path):
    body = """
                metrics = ()
                architectures = frozenset({"decoder_only"})
                def lengths(self, source_lengths, target_lengths): return target_lengths
                def batch(self, sources, targets, generator): ...
    """
    mine = plugin(tmp_path, "Objective", body)
    path = write(tmp_path, train={"objective": "mine"})
    (problem,) = problems_of(path, [mine])
    line, column = line_of(path, "objective: mine")
    assert str(problem) == (
        f"{path}:{line}:{column}: train.objective: 'mine' trains decoder_only; model.architecture is encoder_decoder, "
        "which translation trains"
    )


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        ("ValueError('d_k must be odd')", "ValueError: d_k must be odd"),
        ("RuntimeError('too large\\nframe #0: somewhere')", "RuntimeError: too large"),
        ("SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_a_plugin_that_cannot_be_built_is_placed_and_named_with_its_line(tmp_path, raised, words):
    body = f"""
                def __init__(self, options, dims):
                    raise {raised}
                def forward(self, query, key): ...
    """
    mine = plugin(tmp_path, "AttentionScore", body)
    change = {"model.sites.decoder.cross.attention_score": "mine"}
    path = write(tmp_path, {"base": {}, "odd": {"change": change}})
    (problem,) = problems_of(path, [mine])
    line, column = line_of(path, "model.sites.decoder")
    assert str(problem) == (
        f"{path}:{line}:{column}: rows.odd.change.model.sites.decoder.cross.attention_score: "
        f"the model cannot be built: {words} ({mine}:{line_of(mine, 'raise ')[0]})"
    )


def test_what_cannot_be_built_in_no_plugin_s_code_is_placed_at_the_row_s_change(tmp_path):
    body = """
                def __init__(self): ...
                def forward(self, query, key): ...
    """
    mine = plugin(tmp_path, "AttentionScore", body)
    path = write(tmp_path, {"base": {}, "odd": {"change": {"model.attention_score": "mine"}}})
    (problem,) = problems_of(path, [mine])
    line, column = line_of(path, "change:")
    assert str(problem).startswith(
        f"{path}:{line}:{column}: rows.odd.change: the model cannot be built: "
        "TypeError: Mine.__init__() takes 1 positional argument but 3 were given ("
    )


def test_a_misfit_that_only_a_row_causes_is_placed_at_its_change_and_one_of_all_rows_at_the_base(tmp_path):
    learned = {"name": "learned", "options": {"max_positions": 101}}
    rows = {"base": {}, "long": {"change": {"data.max_pieces": 101}}, "narrow": {"change": {"model.d_ff": 8}}}
    path = write(tmp_path, rows, model={"positional_scheme": learned})
    (problem,) = problems_of(path)
    line, column = line_of(path, "change:")
    assert str(problem).startswith(f"{path}:{line}:{column}: rows.long.change: 'learned' has 101 positions")
    path = write(tmp_path, rows, model={"positional_scheme": {**learned, "options": {"max_positions": 100}}})
    everywhere, long = problems_of(path)
    line, column = line_of(path, "positional_scheme:")
    assert str(everywhere).startswith(f"{path}:{line}:{column}: model.positional_scheme: 'learned' has 100 positions")
    assert long.path == "rows.long.change"


def test_a_plugin_that_breaks_its_contract_is_told_once_for_all_rows_at_its_name(tmp_path):
    body = """
                def __init__(self, options, dims):
                    super().__init__(options, dims)
                    self.weight = torch.nn.Parameter(torch.zeros(3))
                def forward(self, query, key): ...
    """
    mine = plugin(tmp_path, "AttentionScore", body)
    path = write(tmp_path, model={"attention_score": "mine"})
    (problem,) = problems_of(path, [mine])
    line, column = line_of(path, "attention_score: mine")
    assert str(problem).startswith(f"{path}:{line}:{column}: model.attention_score: plugin 'mine': Mine at ")
    assert "has no reset_parameters()" in str(problem)


LEAKS = """
            def forward(self, query, key):
                return query @ key.roll(-1, dims=2).mT
"""


def test_a_score_that_sees_more_than_a_pair_is_told_once_for_all_rows_and_sites_at_its_name(tmp_path):
    path = write(tmp_path, model={"attention_score": "mine"})
    (problem,) = problems_of(path, [plugin(tmp_path, "AttentionScore", LEAKS)])
    line, column = line_of(path, "attention_score: mine")
    assert str(problem) == (
        f"{path}:{line}:{column}: model.attention_score: plugin 'mine': a score sees one query and one key at a time: "
        "entry (0, 3) changed when key 0 did; compute it from query 0 and key 3 alone"
    )


def test_a_score_of_one_row_s_site_is_placed_at_that_row_s_change(tmp_path):
    path = write(tmp_path, {"base": {}, "odd": {"change": {"model.sites.decoder.cross.attention_score": "mine"}}})
    (problem,) = problems_of(path, [plugin(tmp_path, "AttentionScore", LEAKS)])
    assert problem.path == "rows.odd.change.model.sites.decoder.cross.attention_score"


def test_a_score_that_breaks_at_one_row_s_sizes_is_placed_at_that_row_s_change(tmp_path):
    body = """
                def forward(self, query, key):
                    return (query @ key.mT).squeeze(1)
    """
    path = write(tmp_path, model={"attention_score": "mine"})
    (problem,) = problems_of(path, [plugin(tmp_path, "AttentionScore", body)])
    assert problem.path == "rows.one-head.change"
    assert problem.message.startswith("plugin 'mine': forward gives shape (2, 3, 4) for 3 queries and 4 keys")


def test_a_mask_that_breaks_at_one_site_is_found_there(tmp_path):
    body = """
                def __init__(self, options, dims):
                    super().__init__(options, dims)
                    self.cross = not dims.site.attends_itself
                def allowed(self, query_positions, key_positions):
                    return torch.ones(3, 4) if self.cross else None
    """
    path = write(tmp_path, model={"mask": "mine"})
    (problem,) = problems_of(path, [plugin(tmp_path, "Mask", body)])
    assert str(problem).startswith(f"{path}:{line_of(path, 'mask: mine')[0]}:")
    assert "model.mask: plugin 'mine': allowed gives a tensor of torch.float32" in str(problem)


def test_a_score_is_tried_once_for_all_rows_that_run_it_at_the_same_sizes(tmp_path):
    """Once for each site and pair of H and d_k, however many rows and seeds there are."""
    body = """
                def __init__(self, options, dims):
                    super().__init__(options, dims)
                    self.site = dims.site
                def forward(self, query, key):
                    print(self.site, query.size(1), query.size(3))
                    return query @ key.mT
    """
    mine = plugin(tmp_path, "AttentionScore", body)

    def calls(rows, seeds):
        path = write(tmp_path, rows, seeds=seeds, model={"attention_score": "mine"})
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            load(path, home=tmp_path, plugins=[mine]).survey()
        return Counter(said.getvalue().splitlines())

    one_row, one_head = calls({"base": {}}, [1]), {"one-head": {"change": {"model.num_heads": 1}}}
    assert set(one_row) == {f"{site} 2 8" for site in ("encoder.self", "decoder.self", "decoder.cross")}
    several = calls({"base": {}, "wide": {"change": {"model.d_ff": 64}}, **one_head}, [1, 2])
    assert several == one_row + Counter({key.replace("2 8", "1 16"): number for key, number in one_row.items()})


TORCH_ATTENTION = '''
"""Torch's own attention, whose boolean mask means the opposite: True = hidden."""

import torch

import framework as fw


class TorchAttention(torch.nn.MultiheadAttention):
    def reset_parameters(self):
        self._reset_parameters()


class Mine(fw.Mixer):
    name = "mine"
    takes = frozenset({{"mask"}})

    def __init__(self, options, dims, parts):
        super().__init__(options, dims, parts)
        self.dims, self.mask = dims, parts.mask
        self.attention = TorchAttention(dims.d_model, dims.num_heads, batch_first=True)

    def start(self): ...

    def forward(self, x, positions, padding, *cross):
        allowed = fw.visible(self.mask, self.dims, positions, positions, padding)
        allowed = allowed.expand(len(x), self.dims.num_heads, x.size(1), -1).flatten(0, 1)  # (B*H, L, L)
        return self.attention(x, x, x, attn_mask={given})[0], None


@fw.hookimpl
def mixer():
    return Mine
'''


@pytest.mark.parametrize("given", ["allowed", "allowed.to(x.dtype)", "allowed.long()"])
@pytest.mark.parametrize("site", ["encoder", "decoder"])
def test_a_mixer_that_hands_its_mask_on_to_a_module_with_another_convention_is_told_by_name(tmp_path, given, site):
    """Inverted, it sees nothing but the future and padding; as numbers, which are added to scores, all of both."""
    mine = tmp_path / "mine.py"
    mine.write_text(TORCH_ATTENTION.format(given=given))
    (problem,) = problems_of(
        write(tmp_path, {"base": {}}, model={"sites": {site: {"self": {"mixer": "mine"}}}}), [mine]
    )
    assert problem.path == f"model.sites.{site}.self.mixer"
    assert problem.message.startswith("plugin 'mine': ")


def test_a_mixer_that_turns_its_mask_round_for_that_module_is_fine(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(TORCH_ATTENTION.format(given="~allowed"))
    path = write(tmp_path, model={"sites": {"encoder": {"self": {"mixer": "mine"}}}})
    assert load(path, home=tmp_path, plugins=[mine]).survey()
