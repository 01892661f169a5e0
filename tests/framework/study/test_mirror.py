"""The Optuna study says what the folders say, whatever happened to either of them."""

from __future__ import annotations

import shutil

import optuna
import pytest

from framework.errors import SpecError
from framework.study.mirror import StudyMirror
from tests.framework.tiny_experiment import folder_of

ROWS = {"base": {}, "one-head": {"change": {"model.num_heads": 1}}}
WILD = {"base": {}, "wild": {"change": {"train.learning_rate_factor": 1.0e30}}}


def test_one_optuna_trial_per_row_and_seed(bench):
    experiment = bench.experiment(seeds=[1, 2])
    summary = bench.coordinate(experiment)
    assert (summary.ran, summary.already_done, summary.failures, summary.diverged) == (4, 0, {}, {})
    assert bench.told() == [
        (0, "base", 1, "COMPLETE", "done"),
        (1, "base", 2, "COMPLETE", "done"),
        (2, "one-head", 1, "COMPLETE", "done"),
        (3, "one-head", 2, "COMPLETE", "done"),
    ]


def test_an_optuna_trial_carries_keys_scores_and_curve(bench):
    experiment = bench.experiment(rows={"base": {"group": "A"}})
    bench.coordinate(experiment)
    (planned,), (told,) = experiment.plan(), bench.trials()
    evaluation = folder_of(planned, bench.home).evaluation(str(planned.evaluate_key))
    assert evaluation is not None
    assert told.value == evaluation.metrics["dev/perplexity"]
    assert told.user_attrs == {
        "row": "base",
        "seed": 1,
        "group": "A",
        "train_key": planned.train_key,
        "evaluate_key": planned.evaluate_key,
        "status": "done",
        **evaluation.metrics,
    }
    assert told.params == {}
    curve = {
        p.step: p.values["dev/perplexity"] for p in folder_of(planned, bench.home).curves.points() if p.step in (6, 12)
    }
    assert told.intermediate_values == curve
    assert told.datetime_start is not None


def test_without_perplexity_among_the_scores_the_value_is_the_curves_last(bench):
    """The study minimises, and a BLEU would make the worst trial its best."""
    experiment = bench.experiment(rows={"base": {}}, evaluate={"metrics": ["bleu"]})
    bench.coordinate(experiment)
    (told,) = bench.trials()
    assert told.value == folder_of(experiment.plan()[0], bench.home).curves.points()[-1].values["dev/perplexity"]
    assert "dev/perplexity" not in told.user_attrs


def test_a_second_run_adds_nothing(bench):
    """A finished experiment: no trial, no number, no folder anew."""
    bench.coordinate(bench.experiment())
    before = bench.told()
    summary = bench.coordinate(bench.experiment())
    assert (summary.ran, summary.already_done) == (0, 2)
    assert bench.launcher.started == []
    assert bench.told() == before


def test_more_seeds_add_their_trials_only(bench):
    bench.coordinate(bench.experiment(seeds=[1]))
    bench.coordinate(bench.experiment(seeds=[1, 2]))
    assert [told[:3] for told in bench.told()] == [
        (0, "base", 1),
        (1, "one-head", 1),
        (2, "base", 2),
        (3, "one-head", 2),
    ]


def test_an_interrupted_trial_is_finished_under_its_own_number(bench):
    experiment = bench.experiment()
    with pytest.raises(KeyboardInterrupt):
        bench.coordinate(experiment, interrupted_at="one-head")
    assert bench.told() == [(0, "base", 1, "COMPLETE", "done"), (1, "one-head", 1, "RUNNING", None)]
    bench.coordinate(experiment)
    assert bench.told() == [(0, "base", 1, "COMPLETE", "done"), (1, "one-head", 1, "COMPLETE", "done")]


def test_interrupted_trials_go_first(bench):
    experiment = bench.experiment(rows={**ROWS, "last": {"change": {"model.d_ff": 8}}})
    with pytest.raises(KeyboardInterrupt):
        bench.coordinate(
            bench.experiment(rows={"last": {"change": {"model.d_ff": 8}}, "base": {}}), interrupted_at="last"
        )
    bench.coordinate(experiment)
    assert bench.launcher.started == ["last", "base", "one-head"]


def test_a_trial_that_was_enqueued_and_never_started_is_run_under_its_number(bench):
    """A kill between the two."""
    experiment = bench.experiment(rows={"base": {}})
    (trial,) = experiment.plan()
    mirror = StudyMirror(experiment.spec, bench.home, None)
    attributes = {"row": "base", "seed": 1, "group": None, "evaluate_key": trial.evaluate_key}
    mirror._study.enqueue_trial({}, user_attrs=attributes)
    bench.coordinate(experiment)
    assert bench.told() == [(0, "base", 1, "COMPLETE", "done")]


def test_a_failed_trial_is_tried_again_as_a_trial_that_names_it(bench):
    """A crash is never skipped as if it were done."""
    experiment = bench.experiment()
    summary = bench.coordinate(experiment, crashing=frozenset({"base"}))
    assert summary.failures == {("base", 1): "RuntimeError: base crashes"}
    assert bench.told() == [(0, "base", 1, "FAIL", "failed"), (1, "one-head", 1, "COMPLETE", "done")]
    assert bench.trials()[0].user_attrs["reason"] == "RuntimeError: base crashes"
    bench.coordinate(experiment, crashing=frozenset({"base"}))
    bench.coordinate(experiment)
    assert bench.told() == [
        (0, "base", 1, "FAIL", "failed"),
        (1, "one-head", 1, "COMPLETE", "done"),
        (2, "base", 1, "FAIL", "failed"),
        (3, "base", 1, "COMPLETE", "done"),
    ]
    assert [told.user_attrs.get("retry_of") for told in bench.trials()] == [None, None, 0, 2]


def test_a_diverged_trial_is_a_failure_that_is_final(bench):
    """No NaN and no infinity reaches Optuna, where either would be mistaken for a value."""
    experiment = bench.experiment(rows=WILD)
    summary = bench.coordinate(experiment)
    told = bench.trials()[1]
    assert summary.diverged == {("wild", 1): told.user_attrs["reason"]}
    assert told.user_attrs["reason"].startswith("diverged at step ")
    assert bench.told() == [(0, "base", 1, "COMPLETE", "done"), (1, "wild", 1, "FAIL", "diverged")]
    again = bench.coordinate(experiment)
    assert (again.ran, again.already_done, again.diverged) == (0, 2, {})
    assert len(bench.trials()) == 2


def test_a_lost_study_is_told_again_without_running(bench):
    experiment = bench.experiment(rows=WILD)
    bench.coordinate(experiment)
    before = [(t.number, t.state, t.value, t.user_attrs, t.intermediate_values) for t in bench.trials()]
    bench.journal.unlink()
    bench.coordinate(experiment)
    assert bench.launcher.started == []
    assert [(t.number, t.state, t.value, t.user_attrs, t.intermediate_values) for t in bench.trials()] == before


def test_a_lost_folder_is_filled_again_under_a_new_number(bench):
    experiment = bench.experiment(rows={"base": {}})
    bench.coordinate(experiment)
    shutil.rmtree(folder_of(experiment.plan()[0], bench.home).path)
    bench.coordinate(experiment)
    assert bench.told() == [(0, "base", 1, "COMPLETE", "done"), (1, "base", 1, "COMPLETE", "done")]
    assert bench.trials()[1].user_attrs["retry_of"] == 0


def test_a_trial_that_the_experiment_no_longer_asks_for_is_withdrawn(bench):
    with pytest.raises(KeyboardInterrupt):
        bench.coordinate(bench.experiment(), interrupted_at="one-head")
    bench.coordinate(bench.experiment(rows={"base": {}}))
    assert bench.told() == [(0, "base", 1, "COMPLETE", "done"), (1, "one-head", 1, "FAIL", "withdrawn")]
    bench.coordinate(bench.experiment())
    assert bench.told()[2] == (2, "one-head", 1, "COMPLETE", "done")
    assert bench.trials()[2].user_attrs["retry_of"] == 1


def test_a_trial_whose_row_was_edited_is_withdrawn(bench):
    with pytest.raises(KeyboardInterrupt):
        bench.coordinate(bench.experiment(rows={"base": {}}), interrupted_at="base")
    bench.coordinate(bench.experiment(rows={"base": {"change": {"model.d_ff": 8}}}))
    assert bench.told() == [(0, "base", 1, "FAIL", "withdrawn"), (1, "base", 1, "COMPLETE", "done")]


def test_a_trial_that_is_merely_not_chosen_waits(bench):
    with pytest.raises(KeyboardInterrupt):
        bench.coordinate(bench.experiment(), interrupted_at="base")
    bench.coordinate(bench.experiment(only=["one-head"]))
    assert bench.told() == [(0, "base", 1, "RUNNING", None), (1, "one-head", 1, "COMPLETE", "done")]
    bench.coordinate(bench.experiment())
    assert bench.told() == [(0, "base", 1, "COMPLETE", "done"), (1, "one-head", 1, "COMPLETE", "done")]


def test_others_trials_in_the_study_are_left_alone(bench):
    experiment = bench.experiment(rows={"base": {}})
    StudyMirror(experiment.spec, bench.home, None)._study.ask()
    bench.coordinate(experiment)
    assert [trial.state.name for trial in bench.trials()] == ["RUNNING", "COMPLETE"]


def test_a_kill_inside_a_write_to_the_journal_is_mended(bench):
    """A torn last line, on which the next write would be glued, and a lock that nobody holds any more."""
    experiment = bench.experiment()
    with pytest.raises(KeyboardInterrupt):
        bench.coordinate(experiment, interrupted_at="one-head")
    with bench.journal.open("ab") as file:
        file.write(b'{"op_code": 5, "worker_id"')
    (bench.journal.parent / f"{bench.journal.name}.lock").symlink_to(bench.journal)
    bench.coordinate(experiment)
    assert bench.told() == [(0, "base", 1, "COMPLETE", "done"), (1, "one-head", 1, "COMPLETE", "done")]


def test_a_study_that_cannot_be_read_says_how_to_go_on(bench):
    bench.journal.parent.mkdir(parents=True)
    bench.journal.write_text("this is no journal\n")
    with pytest.raises(
        SpecError,
        match=rf"the Optuna study at {bench.journal} cannot be opened: JSONDecodeError: .*move it away, and the same "
        "command fills a new one from the trials' folders",
    ):
        bench.coordinate(bench.experiment(rows={"base": {}}))


def test_a_storage_that_is_none_is_refused(bench):
    with pytest.raises(SpecError, match=r"^--storage: the Optuna study at nonsense cannot be opened: ArgumentError: "):
        bench.coordinate(bench.experiment(rows={"base": {}}), storage="nonsense")


def test_another_storage_may_hold_the_study(bench, tmp_path):
    url = f"sqlite:///{tmp_path / 'optuna.db'}"
    bench.coordinate(bench.experiment(rows={"base": {}}), storage=url)
    study = optuna.load_study(study_name="tiny", storage=url)
    assert [trial.state.name for trial in study.get_trials()] == ["COMPLETE"]
    study._storage.remove_session()
