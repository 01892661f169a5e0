"""A study in trouble stops no training, and is told everything in the end, once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial

import optuna
import pytest

from framework.study import tell_what_is_done
from framework.study.backlog import PAUSE, Backlog
from framework.study.ending import Ending, ending_of
from framework.study.mirror import StudyMirror

ROWS = {"base": {}, "one-head": {"change": {"model.num_heads": 1}}}


@pytest.fixture
def mirror(bench):
    return StudyMirror(bench.experiment(rows={"base": {}}).spec, bench.home, None)


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'optuna.db'}?timeout=0.1"


@pytest.fixture
def lock(tmp_path):
    """Another process's, as far as the database can tell."""
    with closing(sqlite3.connect(tmp_path / "optuna.db", isolation_level=None)) as other:
        yield other


def states(url):
    study = optuna.load_study(study_name="tiny", storage=url)
    found = [(t.number, t.user_attrs["row"], t.state.name, t.user_attrs.get("status")) for t in study.get_trials()]
    study._storage.remove_session()
    return found


def test_a_database_that_another_process_locks_stops_no_training(bench, url, lock, caplog):
    experiment = bench.experiment(rows=ROWS)

    def watch(progress):
        if progress.finished == 0 and not lock.in_transaction:
            lock.execute("begin exclusive")

    summary = bench.coordinate(experiment, watch, url)
    assert (summary.ran, summary.failures) == (2, {})
    assert all(ending_of(trial, bench.home) for trial in experiment.plan())
    assert caplog.messages == [
        f"the Optuna study at {url} fails (OperationalError: (sqlite3.OperationalError) database is locked): "
        "training goes on, and what is missing is told once it answers",
        f"the Optuna study at {url} is behind the trials' folders: `ablate sync` brings it up to date",
    ]
    lock.execute("rollback")
    assert bench.coordinate(experiment, storage=url).ran == 0
    assert states(url) == [(0, "base", "COMPLETE", "done"), (1, "one-head", "COMPLETE", "done")]


def test_what_could_not_be_told_is_told_at_the_end(bench, url, lock, caplog):
    def watch(progress):
        if progress.finished == 0 and not lock.in_transaction:
            lock.execute("begin exclusive")
        elif progress.finished == progress.planned:
            lock.execute("rollback")

    bench.coordinate(bench.experiment(rows=ROWS), watch, url)
    assert caplog.messages[1:] == [f"the Optuna study at {url} is up to date again"]
    assert states(url) == [(0, "base", "COMPLETE", "done"), (1, "one-head", "COMPLETE", "done")]


def test_a_study_that_fails_is_left_alone_for_a_while_and_then_told_in_order(mirror, caplog):
    now, tries, is_well = [0.0], [], False

    def call(name):
        tries.append(name)
        if not is_well:
            raise OSError("no disk")

    backlog = Backlog(mirror, lambda: now[0])
    for name in ("first", "second"):
        backlog.tell(partial(call, name))
    assert tries == ["first"]
    now[0] = PAUSE
    backlog.catch_up()
    backlog.catch_up()
    assert tries == ["first", "first"]
    is_well = True
    assert backlog.close()
    assert tries == ["first", "first", "first", "second"]
    assert [" fails (OSError: no disk): training goes on" in message for message in caplog.messages] == [True, False]


def test_what_arrived_before_a_failure_is_not_told_twice(bench, mirror):
    """A connection that is lost between the deed and the answer."""
    (trial,) = bench.experiment(rows={"base": {}}).plan()
    now = [0.0]
    backlog = Backlog(mirror, lambda: now[0])
    lost = set()

    def losing_the_answer(deed):
        deed()
        if deed not in lost:
            lost.add(deed)
            raise ConnectionError("the answer was lost")

    ending = Ending("done", None, {"dev/perplexity": 4.0}, ((3, 5.0), (6, 4.5)), 4.0)
    for deed in (partial(mirror.start, trial), partial(mirror.end, trial, ending)):
        backlog.tell(partial(losing_the_answer, deed))
    for _ in range(3):
        now[0] += PAUSE
        backlog.catch_up()
    assert len(lost) == 2
    assert bench.told() == [(0, "base", 1, "COMPLETE", "done")]
    assert bench.trials()[0].intermediate_values == {3: 5.0, 6: 4.5}


def test_a_trial_enqueued_before_a_failure_is_started_once(bench, mirror):
    (trial,) = bench.experiment(rows={"base": {}}).plan()
    study = mirror._study
    backlog = Backlog(mirror)

    def enqueued_only():
        if mirror._study is study:
            keys = {"row": "base", "seed": 1, "evaluate_key": trial.evaluate_key}
            study.enqueue_trial({}, user_attrs=keys, skip_if_exists=False)
            raise ConnectionError("lost")
        mirror.start(trial)

    backlog.tell(enqueued_only)
    assert backlog.close()
    assert bench.told() == [(0, "base", 1, "RUNNING", None)]


def test_a_restart_between_report_and_tell_reports_no_step_twice(bench, mirror):
    """Optuna warns of each step that is."""
    (trial,) = bench.experiment(rows={"base": {}}).plan()
    mirror.start(trial)
    optuna.trial.Trial(mirror._study, mirror._started["base", 1, trial.evaluate_key]).report(5.0, 3)
    again = StudyMirror(bench.experiment(rows={"base": {}}).spec, bench.home, None)
    again.start(trial)
    again.end(trial, Ending("done", None, {}, ((3, 5.0), (6, 4.5)), 4.5))
    assert bench.trials()[0].intermediate_values == {3: 5.0, 6: 4.5}


def test_a_lost_study_is_told_what_is_done_without_a_run(bench):
    experiment = bench.experiment(rows={**ROWS, "wild": {"change": {"train.learning_rate_factor": 1.0e30}}})
    bench.coordinate(experiment)
    before = bench.told()
    bench.journal.unlink()
    more = bench.experiment(rows={**experiment.spec.model_dump()["rows"], "new": {"change": {"model.d_ff": 8}}})
    assert tell_what_is_done(more.spec, more.plan(), bench.home)
    assert (
        bench.told()
        == before
        == [
            (0, "base", 1, "COMPLETE", "done"),
            (1, "one-head", 1, "COMPLETE", "done"),
            (2, "wild", 1, "FAIL", "diverged"),
        ]
    )
    assert tell_what_is_done(more.spec, more.plan(), bench.home)
    assert bench.told() == before


def test_what_is_interrupted_stays_so_while_only_what_is_done_is_told(bench):
    experiment = bench.experiment(rows=ROWS)
    with pytest.raises(KeyboardInterrupt):
        bench.coordinate(experiment, interrupted_at="one-head")
    assert tell_what_is_done(experiment.spec, experiment.plan(), bench.home)
    assert bench.told() == [(0, "base", 1, "COMPLETE", "done"), (1, "one-head", 1, "RUNNING", None)]


def test_a_perplexity_that_was_measured_needs_no_curve(bench):
    experiment = bench.experiment(rows={"base": {}})
    bench.coordinate(experiment)
    value = bench.trials()[0].value
    (curves,) = bench.home.glob("trials/*/metrics.jsonl")
    curves.unlink()
    bench.journal.unlink()
    bench.coordinate(experiment)
    assert bench.told() == [(0, "base", 1, "COMPLETE", "done")]
    assert (bench.trials()[0].value, bench.trials()[0].intermediate_values) == (value, {})


def test_a_trial_without_any_perplexity_is_done_and_told_once(bench):
    experiment = bench.experiment(rows={"base": {}}, evaluate={"metrics": ["bleu"]})
    bench.coordinate(experiment)
    (curves,) = bench.home.glob("trials/*/metrics.jsonl")
    curves.unlink()
    bench.journal.unlink()
    for _ in range(2):
        bench.coordinate(experiment)
        assert bench.told() == [(0, "base", 1, "FAIL", "done")]
    assert "dev/bleu" in bench.trials()[0].user_attrs
