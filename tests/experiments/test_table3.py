"""The table at the paper's scale: each row is what the paper prints, and what it does not print has no figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import framework as fw
from tests.experiments.shipped import EXPERIMENTS

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/table3.json").read_text(encoding="utf-8"))
PRINTED = {row[0]: dict(zip(GOLDEN["columns"], row, strict=True)) for row in GOLDEN["rows"]}
OURS = (
    "F-additive",
    "F-kernel",
    "F-no-scale",
    "F-no-positions",
    "F-no-residual",
    "F-no-mlp",
    "F-no-mixing",
    "F-recurrent",
    "F-convolution",
)


@pytest.fixture(scope="module")
def table3(tmp_path_factory):
    return fw.load(EXPERIMENTS / "table3.yaml", home=tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def resolved(table3):
    return {trial.row: trial for trial in table3.plan()}


def in_full(row: str) -> dict[str, Any]:
    """A printed row, its blanks filled in from base; d_k and d_v as d_model / h where it changes either of them."""
    base, own = PRINTED["base"], PRINTED[row]
    full = {name: base[name] if own[name] is None else own[name] for name in own}
    if own["d_model"] or own["num_heads"]:
        width = full["d_model"] // full["num_heads"]
        full |= {name: width for name in ("d_k", "d_v") if own[name] is None}
    return full


def test_the_twenty_rows_stand_in_the_paper_s_order_and_ours_behind_them(table3):
    assert tuple(table3.spec.rows) == (*PRINTED, *OURS)


@pytest.mark.parametrize("row", PRINTED)
def test_a_row_has_the_printed_sizes_and_everything_else_as_base(row, resolved):
    full = in_full(row)
    base, trial = resolved["base"], resolved[row]
    sizes = {name: full[name] for name in ("num_layers", "d_model", "d_ff", "num_heads", "d_k", "d_v", "dropout")}
    scheme = {"positional_scheme": trial.model.positional_scheme} if row == "E-learned" else {}
    training = {"label_smoothing": full["label_smoothing"], "steps": 1000 * full["kilosteps"]}
    assert trial.model == base.model.model_copy(update=sizes | scheme)
    assert trial.train == base.train.model_copy(update=training)
    assert (trial.data, trial.evaluate) == (base.data, base.evaluate)


def test_row_e_learns_its_positions(resolved):
    assert resolved["E-learned"].model.positional_scheme.name == "learned"
    assert {trial.model.positional_scheme.name for row, trial in resolved.items() if row in PRINTED} == {
        "sinusoidal",
        "learned",
    }


@pytest.mark.parametrize("row", PRINTED)
def test_a_row_states_the_printed_figures_and_its_group(row, table3):
    spec = table3.spec.rows[row]
    names = ("perplexity", "bleu", "parameters_millions")
    assert spec.reference.model_dump() == {name: PRINTED[row][name] for name in names}
    assert spec.group == PRINTED[row]["group"]


@pytest.mark.parametrize("row", OURS)
def test_a_row_of_our_own_has_no_figures_of_the_paper(row, table3):
    assert table3.spec.rows[row].group == "F"
    assert table3.spec.rows[row].reference is None


def test_rows_of_our_own_change_the_model_alone_and_each_otherwise(resolved):
    ours = [resolved[row] for row in OURS]
    assert all((trial.data, trial.train) == (resolved["base"].data, resolved["base"].train) for trial in ours)
    models = [trial.model.model_dump_json() for trial in (resolved["base"], *ours)]
    assert len(set(models)) == 1 + len(OURS)


@pytest.mark.parametrize("row", ["F-no-mixing", "F-recurrent", "F-convolution"])
def test_what_stands_instead_of_self_attention_leaves_cross_attention_as_it_is(row, resolved):
    model = resolved[row].model
    at_self = {model.site(stack, "self").mixer.name for stack in ("encoder", "decoder")}
    assert len(at_self) == 1
    assert at_self != {"attention"}
    assert model.site("decoder", "cross").mixer.name == "attention"


def test_the_rows_that_the_reference_counts_make_up_its_table_of_40960_and_32(table3):
    spec = table3.spec
    assert spec.data.tokenizer.vocabulary_size + spec.report.reference_embedding_rows == 40960 + 32
