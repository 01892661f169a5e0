"""Corpora that are not there, told before anything runs. Preparing them is tested where experiments run."""

from __future__ import annotations

from framework.corpora import missing_corpora
from framework.experiment import load
from tests.framework.test_survey import line_of
from tests.framework.tiny_experiment import write


def test_a_corpus_that_is_not_there_is_named_once_where_it_is_written(tmp_path):
    here = {"name": "text_pairs", "options": {"train": "none.tsv", "dev": "dev.tsv"}}
    experiment = load(path := write(tmp_path, data={"corpus": here}), home=tmp_path)
    (problem,) = missing_corpora(experiment.plan(), experiment.loaded, experiment.registry)
    line, column = line_of(path, "corpus:")
    assert str(problem) == (
        f"{path}:{line}:{column}: data.corpus: the corpus is not there: "
        f"the corpus file {tmp_path / 'none.tsv'} does not exist; it can be planned, not run"
    )
    there = load(write(tmp_path), home=tmp_path)
    assert missing_corpora(there.plan(), there.loaded, there.registry) == []
