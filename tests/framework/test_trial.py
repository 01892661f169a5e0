"""One trial: whatever interrupts it and wherever it runs, the same key gives the same numbers."""

from __future__ import annotations

import json
import logging
import shutil
import threading
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from framework.curves import CurveWriter
from framework.data.prepared import PreparedData
from framework.errors import SpecError
from framework.evaluate.token_means import token_means
from framework.identity import provenance
from framework.model.assemble import assemble
from framework.registry import Registry
from framework.train import checkpoint
from framework.train.loop import Training
from framework.trial import data_folder
from plugins.objectives.translation import Translation
from tests.framework.tiny_experiment import TINY
from tests.framework.trial_bench import Bench


def test_a_trial_fills_its_folder(straight):
    folder, trial = straight.folder(), straight.trials["base"]
    written = {str(path.relative_to(folder.path)) for path in folder.path.rglob("*") if path.is_file()}
    assert written == {
        "lock",
        "spec.json",
        "plugins.json",
        "metrics.jsonl",
        "checkpoint.safetensors",
        "weights/12.safetensors",
        "training.json",
        f"evaluations/{trial.evaluate_key}.outputs.jsonl",
        f"evaluations/{trial.evaluate_key}.json",
    }
    assert len(folder.outputs(trial.evaluate_key)) == 4  # one of each dev pair
    training, evaluation = folder.training(), folder.evaluation(trial.evaluate_key)
    assert (training.status, training.steps) == ("trained", 12)
    assert training.parameters == straight.experiment.survey()[0].parameters
    assert training.data["train/pairs"] == 60
    assert training.environment["torch"] == torch.__version__
    assert training.environment["threads"] == "1"
    for library in ("tokenizers", "safetensors", "sacrebleu"):
        assert training.environment[library] == evaluation.environment[library] == version(library)
    assert training.peak_memory_bytes > 10**6
    assert evaluation.averaged_steps == (12,)
    assert set(evaluation.metrics) == {"dev/loss", "dev/perplexity", "dev/bleu"}
    assert json.loads((folder.path / "spec.json").read_text())["row"] == "base"
    plugins = json.loads((folder.path / "plugins.json").read_text())
    assert plugins == provenance(trial, straight.registry)
    assert {"corpus", "attention_score", "objective"} <= {plugin["kind"] for plugin in plugins}
    assert straight.status() == "done"


def test_a_trial_beside_a_broken_distribution_records_which_distributions_it_used(tmp_path, install_bad_and_good):
    install_bad_and_good("raise SystemExit(3)")
    bench = Bench(tmp_path, Registry.load(), model={"attention_score": "good"}, train={"steps": 2})
    assert [broken.module for broken in bench.registry.broken] == ["bad_plug"]
    bench.run()
    assert bench.status() == "done"
    plugins = json.loads((bench.folder().path / "plugins.json").read_text())
    assert {(plugin["kind"], plugin["name"]): plugin["origin"] for plugin in plugins} == {
        ("attention_score", "good"): "good-dist 2.0",
        ("corpus", "toy_translation"): (own := f"transformer-ablations {version('transformer-ablations')}"),
        ("feed_forward", "relu_mlp"): own,
        ("mask", "full"): own,
        ("mixer", "attention"): own,
        ("objective", "translation"): own,
        ("positional_scheme", "sinusoidal"): own,
    }


def test_curves_have_a_point_every_interval_and_at_the_last_step(bench):
    odd = bench(train={"steps": 11})
    odd.run()
    points = odd.folder().curves.points()
    assert [point.step for point in points if "train/loss" in point.values] == [3, 6, 9, 11]
    assert [point.step for point in points if "dev/perplexity" in point.values] == [6, 11]


def test_the_last_point_of_the_dev_curve_is_the_score_to_the_last_bit(bench):
    # Many batches, cut as the evaluation cuts them and training does not: the order of a sum shows in its last digit.
    options = TINY["data"]["corpus"]["options"] | {"dev_pairs": 40}
    batches = bench(data={"corpus": {"name": "toy_translation", "options": options}}, evaluate={"batch_tokens": 120})
    batches.run()
    last = batches.folder().curves.points()[-1].values
    scores = batches.findings()["evaluation"]["metrics"]
    assert [last[name] for name in ("dev/loss", "dev/perplexity")] == [scores["dev/loss"], scores["dev/perplexity"]]


def test_a_second_call_does_nothing(straight):
    files = [path for path in straight.folder().path.rglob("*") if path.name != "lock"]
    before = {path: (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns) for path in files}
    straight.run()
    assert {path: (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns) for path in files} == before


def test_another_beam_is_evaluated_and_not_trained(straight, tmp_path, registry):
    wide = Bench(tmp_path, registry, home=straight.home, evaluate={"beam_size": 2})
    first, second = straight.trials["base"], wide.trials["base"]
    assert first.train_key == second.train_key
    assert first.evaluate_key != second.evaluate_key
    kept = [straight.folder().path / name for name in ("training.json", "checkpoint.safetensors", "metrics.jsonl")]
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in kept]
    wide.run()
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in kept] == before
    assert wide.status() == straight.status() == "done"
    losses = [straight.folder().evaluation(trial.evaluate_key).metrics["dev/loss"] for trial in (first, second)]
    assert losses[0] == losses[1]


@pytest.mark.parametrize("at_step", range(1, 13))
def test_resuming_replays_nothing(bench, straight, monkeypatch, at_step):
    """Interrupted at any step, twice: the data's order, dropout, Adam and the curves go on where they were."""
    broken = bench()
    for at in (at_step, min(at_step + 1, 12)):
        with monkeypatch.context() as patch:
            patch.setattr(Training, "update", _interrupted_before(at))
            with pytest.raises(KeyboardInterrupt):
                broken.run()
        assert broken.status() == "to do"
    broken.run()
    assert broken.findings() == straight.findings()


def _interrupted_before(step):
    update = Training.update

    def interrupted(self):
        if self.step + 1 == step:
            raise KeyboardInterrupt
        return update(self)

    return interrupted


def test_interrupted_between_training_and_scores(bench, straight, monkeypatch):
    broken = bench()
    with monkeypatch.context() as patch:
        patch.setattr("framework.trial.measure", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            broken.run()
    checkpoint = broken.folder().checkpoint_path.read_bytes()
    broken.run()
    assert broken.folder().checkpoint_path.read_bytes() == checkpoint
    assert broken.findings() == straight.findings()


def _interrupt(*_):
    raise KeyboardInterrupt


def test_a_process_may_run_a_trial_first_or_fifth(bench, straight):
    busy = bench(
        rows={
            "kernel": {"change": {"model.attention_score": "kernel"}},
            "additive": {"change": {"model.attention_score": "additive"}},
            "bfloat16": {"change": {"train.precision": "bfloat16"}},
            "diverging": {"change": {"train.learning_rate_factor": 1.0e30}},
            "base": {},
        }
    )
    torch.manual_seed(123)
    for row in busy.trials:
        busy.run(row)
    assert busy.findings() == straight.findings()


def test_intervals_of_logging_change_no_number(bench, straight):
    chatty = bench(train={"log_every": 1, "evaluate_every": 2, "checkpoint_every": 1})
    assert chatty.trials["base"].evaluate_key == straight.trials["base"].evaluate_key
    chatty.run()
    ours, theirs = chatty.findings(), straight.findings()
    assert (ours["weights"], ours["evaluation"]) == (theirs["weights"], theirs["evaluation"])


def test_seeds_differ(bench, straight):
    other = bench(seeds=[2])
    other.run()
    assert other.findings()["weights"] != straight.findings()["weights"]


def test_a_torn_checkpoint_costs_time_only(bench, straight, monkeypatch, caplog):
    torn = bench()
    with monkeypatch.context() as patch:
        patch.setattr(Training, "update", _interrupted_before(7))
        with pytest.raises(KeyboardInterrupt):
            torn.run()
    path = torn.folder().checkpoint_path
    path.write_bytes(path.read_bytes()[:100])
    with caplog.at_level(logging.WARNING):
        torn.run()
    (warning,) = caplog.messages
    assert warning.startswith(f"row base, seed 1 is trained from step 1: {path} cannot be read: ")
    assert warning.endswith("Without this file, training starts again.")
    assert torn.findings() == straight.findings()


@pytest.fixture(params=[lambda path: path.write_bytes(b""), Path.unlink], ids=["torn", "gone"])
def lost(bench, request):
    """A trial that was trained, whose last weights and scores are lost since."""
    lost = bench()
    lost.run()
    request.param(lost.folder().weights_path(12))
    (lost.folder().path / "evaluations" / f"{lost.trials['base'].evaluate_key}.json").unlink()
    return lost


def test_weights_lost_after_training_come_again(lost, straight):
    lost.run()
    assert lost.findings() == straight.findings()


@pytest.mark.parametrize("at_step", [5, 9, 12])
def test_half_trained_weights_are_never_scored_as_the_last(lost, straight, monkeypatch, at_step):
    """Training that comes again is interrupted after each of its checkpoints, while training.json stands."""
    with monkeypatch.context() as patch:
        patch.setattr(Training, "update", _interrupted_before(at_step))
        with pytest.raises(KeyboardInterrupt):
            lost.run()
    assert lost.folder().training().steps == 12
    assert lost.status() == "to do"
    lost.run()
    assert lost.findings() == straight.findings()


def test_curves_are_on_disk_before_the_checkpoint_that_follows_them(bench, monkeypatch):
    order = []

    def noting(name, call):
        def noted(*given):
            order.append(name)
            call(*given)

        return noted

    monkeypatch.setattr(CurveWriter, "sync", noting("curves", CurveWriter.sync))
    monkeypatch.setattr(checkpoint, "save", noting("checkpoint", checkpoint.save))
    bench().run()
    assert order == ["curves", "checkpoint"] * 3 + ["curves"]


def test_a_success_forgets_earlier_failures(bench):
    mended = bench()
    mended.folder().add_failure("RuntimeError: no memory", "")
    assert mended.status() == "failed"
    mended.run()
    assert mended.folder().failure() is None


def test_an_unknown_metric_is_refused_before_training(bench):
    asked = bench(evaluate={"metrics": ["blue"]})
    with pytest.raises(SpecError, match="has no metric 'blue'"):
        asked.run()
    assert asked.folder().curves.points() == []


def test_a_split_that_the_corpus_lacks_is_refused_before_training(bench, tmp_path):
    (tmp_path / "pairs.tsv").write_text("source\ttarget\n" + "a quick brown dog\tkelu rapu\n" * 8)
    files = dict.fromkeys(("train", "dev"), str(tmp_path / "pairs.tsv"))
    corpus = {"name": "text_pairs", "options": files}
    asked = bench(data={"corpus": corpus}, evaluate={"split": "test"})
    with pytest.raises(SpecError, match="the corpus has no split 'test'"):
        asked.run()
    assert asked.folder().curves.points() == []


def test_the_second_on_a_folder_waits_and_does_nothing(bench, straight):
    shared = bench()
    second = threading.Thread(target=shared.run)
    with shared.folder().lock():
        second.start()
        second.join(0.3)
        assert second.is_alive()
        assert shared.status() == "running"
        kept = shutil.ignore_patterns("lock")
        shutil.copytree(straight.folder().path, shared.folder().path, ignore=kept, dirs_exist_ok=True)
    second.join()
    training = Path("training.json")
    theirs, ours = straight.folder().path / training, shared.folder().path / training
    assert ours.stat().st_mtime_ns == theirs.stat().st_mtime_ns  # copied, and not written again


@pytest.mark.parametrize(
    ("keep", "left"), [("checkpoint", {"checkpoint", "12"}), ("weights", {"12"}), ("nothing", set())]
)
def test_what_is_kept_of_a_measured_trial_is_what_was_asked(bench, straight, keep, left):
    kept = bench(train={"keep": keep})
    kept.run()
    assert {path.stem for path in kept.folder().path.rglob("*.safetensors")} == left
    assert (
        kept.folder().evaluation(kept.trials["base"].evaluate_key).metrics
        == straight.findings()["evaluation"]["metrics"]
    )


def folder(parent, name):
    (parent / name).mkdir()
    return parent / name


def test_a_trial_of_which_nothing_was_kept_is_trained_again_for_another_beam(tmp_path, registry, straight):
    first = Bench(folder(tmp_path, "first"), registry, train={"keep": "nothing"})
    first.run()
    wide = Bench(
        folder(tmp_path, "wide"), registry, home=first.home, train={"keep": "nothing"}, evaluate={"beam_size": 2}
    )
    wide.run()
    evaluation = wide.folder().evaluation(str(wide.trials["base"].evaluate_key))
    assert evaluation is not None
    assert evaluation.metrics["dev/loss"] == straight.findings()["evaluation"]["metrics"]["dev/loss"]


def test_diverged_weights_are_kept_as_little_as_others(bench):
    wild = bench(train={"keep": "weights", "learning_rate_factor": 1.0e30})
    wild.run()
    assert wild.status() == "diverged"
    assert not list(wild.folder().path.rglob("*.safetensors"))


AVERAGED = {"average_last": 3, "average_every": 5}
"""Of twelve steps: the weights after 2, 7 and 12."""


def test_averaged_weights_are_those_of_their_steps(bench, straight):
    averaged = bench(evaluate=AVERAGED)
    averaged.run()
    folder = averaged.folder()
    evaluation = folder.evaluation(averaged.trials["base"].evaluate_key)
    assert evaluation.averaged_steps == (2, 7, 12)
    assert evaluation.details["dev/averaged"] == "weights after 3 updates, 2 to 12"
    files = [load_file(folder.weights_path(step)) for step in (2, 7, 12)]
    last = load_file(straight.folder().weights_path(12))
    assert all(torch.equal(files[-1][name], weight) for name, weight in last.items())  # training is not touched by it
    assert evaluation.metrics != straight.findings()["evaluation"]["metrics"]

    model = assemble(averaged.trials["base"].model, averaged.trials["base"].data, averaged.registry)
    model.load_state_dict(
        {
            name.removeprefix("model/"): torch.stack([file[name] for file in files]).double().mean(0).float()
            for name in last
        },
        strict=False,
    )
    data = PreparedData.open(data_folder(averaged.home, str(averaged.trials["base"].data_key)))
    means = token_means(model, Translation(Translation.Options()), data.split("dev"), 4000)
    assert evaluation.metrics["dev/loss"] == pytest.approx(means.loss, rel=1e-6)


@pytest.mark.parametrize("at_step", [2, 3, 7, 8, 12])
def test_averaging_survives_an_interruption_at_any_step(bench, monkeypatch, at_step):
    whole, broken = bench(evaluate=AVERAGED), bench(evaluate=AVERAGED)
    whole.run()
    with monkeypatch.context() as patch:
        patch.setattr(Training, "update", _interrupted_before(at_step))
        with pytest.raises(KeyboardInterrupt):
            broken.run()
    broken.run()
    assert broken.findings() == whole.findings()


@pytest.mark.parametrize("interrupted", [False, True])
def test_weights_that_an_earlier_attempt_did_not_keep_are_trained_again(tmp_path, registry, monkeypatch, interrupted):
    """Another number to average: of a trial that is done, and of one that was interrupted behind step 7."""
    first = Bench(folder(tmp_path, "first"), registry)
    with monkeypatch.context() as patch:
        if interrupted:
            patch.setattr(Training, "update", _interrupted_before(10))
        with suppress(KeyboardInterrupt):
            first.run()
    averaged = Bench(folder(tmp_path, "averaged"), registry, home=first.home, evaluate=AVERAGED)
    averaged.run()
    whole = Bench(folder(tmp_path, "whole"), registry, evaluate=AVERAGED)
    whole.run()
    assert averaged.findings() == whole.findings()
