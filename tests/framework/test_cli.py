"""The command line: what it prints where, its exit codes, and the words of whatever is refused."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.framework.tiny_experiment import ablate, write

TABLE3 = Path(__file__).parents[2] / "experiments" / "table3.yaml"
VERBS = ("check", "plan", "run", "report", "compare", "show", "sync", "plugins")


# check


def test_check_says_how_much_a_file_asks_for(tmp_path):
    path = write(tmp_path, seeds=[1, 2, 3])
    said = ablate("check", path)
    assert (said.code, said.out, said.err) == (0, f"{path}: fine (2 rows, 6 trials)\n", "")


def test_check_tells_every_error_at_once(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("name: bad\nmodle: {}\ndata: {corpus: toy_translatoin}\ntrain: {steps: true, warmup_steps: -1}\n")
    said = ablate("check", path)
    assert (said.code, said.out) == (2, "")
    assert [line.split(": ")[1] for line in said.err.splitlines()] == [
        "modle",
        "data.corpus",
        "train.steps",
        "train.warmup_steps",
    ]
    assert f"{path}:2:1: modle: unknown key 'modle'; did you mean 'model'?" in said.err
    assert "did you mean 'toy_translation'?" in said.err


def test_check_of_several_files_tells_of_each(tmp_path):
    good = write(tmp_path)
    bad = write(tmp_path, name="bad", evaluate={"metrics": ["blue"]})
    said = ablate("check", bad, tmp_path / "none.yaml", good)
    assert said.code == 2
    assert said.out == f"{good}: fine (2 rows, 2 trials)\n"
    first, second = said.err.splitlines()
    assert "has no metric 'blue'" in first
    assert second == f"{tmp_path / 'none.yaml'}: cannot be read: No such file or directory"


def test_check_warns_of_rows_alike(tmp_path):
    path = write(tmp_path, {"base": {}, "same": {"change": {"model.d_ff": 16}}})
    said = ablate("check", path)
    assert said.code == 0
    assert said.err == f"{path}: warning: rows 'base' and 'same' ask for the same trials, which run once\n"


def test_check_warns_of_a_corpus_that_is_not_there(tmp_path):
    path = write(tmp_path, data={"corpus": {"name": "text_pairs", "options": {"train": "no.tsv", "dev": "no.tsv"}}})
    said = ablate("check", path)
    assert (said.code, said.out) == (0, f"{path}: fine (2 rows, 2 trials)\n")
    assert said.err.startswith(f"{path}: warning: {path}:")
    assert said.err.endswith(
        f": data.corpus: the corpus is not there: the corpus file {tmp_path / 'no.tsv'} does not exist; "
        "it can be planned, not run\n"
    )


def test_check_of_nothing():
    said = ablate("check")
    assert (said.code, said.err) == (2, "check: name at least one experiment file\n")


# plan


def test_table_3_is_compared_with_the_paper_without_any_data():
    said = ablate("plan", TABLE3)
    assert said.code == 0
    assert "11 compared, 10 match (3992 embedding rows that the reference counted are added)." in said.out
    assert "Mismatch: big has 218.333 million here, the reference prints 213." in said.out
    assert "214,245,376      213 ≠   9.7e18   29.9 GB   no corpus" in said.out
    assert "Counted for batches of 806 pairs of 30 and 30 pieces (assumed: the data is not prepared)." in said.out
    assert "num_heads=1 [d_k=512, d_v=512]" in said.out


def test_a_plan_as_json_has_plain_keys(tmp_path):
    path = write(tmp_path, {"base": {"group": "A"}, "one-head": {"change": {"model.num_heads": 1}}})
    said = ablate("plan", path, "--format", "json", "--home", tmp_path)
    base, one_head = json.loads(said.out)
    assert base == {
        "row": "base",
        "group": "A",
        "seed": 1,
        "changes": {},
        "derived": {},
        "parameters": 8832,
        "training_flops": 12 * base["update_flops"],
        "update_flops": base["update_flops"],
        "state_bytes": 16 * 8832,
        "activation_bytes": base["activation_bytes"],
        "update_seconds": None,
        "evaluation_seconds": None,
        "seconds": None,
        "seconds_from": None,
        "status": "to do",
        "train_key": base["train_key"],
        "evaluate_key": base["evaluate_key"],
    }
    assert one_head["changes"] == {"model.num_heads": 1}
    assert one_head["derived"] == {"d_k": 16, "d_v": 16}
    assert len({base["train_key"], base["evaluate_key"], one_head["train_key"], one_head["evaluate_key"]}) == 4


def test_a_plan_as_csv_without_a_corpus_has_empty_keys():
    said = ablate("plan", TABLE3, "--row", "base", "--row", "A-h16", "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(said.out)))
    assert len(lines) == 2
    assert {(line["train_key"], line["evaluate_key"], line["status"]) for line in lines} == {("", "", "no corpus")}
    by_row = {line["row"]: line for line in lines}
    assert by_row["A-h16"]["changes"] == "num_heads=16"
    assert by_row["A-h16"]["derived"] == "d_k=32, d_v=32"


def test_a_probe_gives_times_once_and_for_later_plans(tmp_path):
    path = write(tmp_path)
    said = ablate("plan", path, "--probe", "--home", tmp_path / "home")
    assert said.code == 0
    assert said.err.startswith("timing row base\ntiming row one-head\n")
    assert "Left to do: " in said.out
    again = ablate("plan", path, "--probe", "--home", tmp_path / "home")
    assert (again.out, "timing" in again.err) == (said.out, False)
    assert ablate("plan", path, "--home", tmp_path / "home").out == said.out


def test_a_budget_stands_below_the_table_and_beside_what_programs_read(tmp_path):
    path = write(tmp_path)
    said = ablate("plan", path, "--budget", "1h", "--workers", 3, "--home", tmp_path / "home")
    assert said.code == 0
    assert "Within 1h on 3 workers:\n" in said.out
    read = ablate("plan", path, "--budget", "1h", "--workers", 3, "--home", tmp_path / "home", "--format", "json")
    assert len(json.loads(read.out)) == 2
    assert "Within 1h on 3 workers:\n" in read.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--budget", "soon"], "--budget: 'soon' is no length of time: write such as 90m, 2h, 1h30m or 1d\n"),
        (["--budget", "1h", "--workers", 0], "--workers: trials need at least 1 process; this is 0\n"),
        (["--probe", "--devices", "abacus:0"], "--devices: this machine has no device 'abacus:0'"),
    ],
)
def test_what_a_budget_cannot_be_made_of_is_refused_before_anything_is_timed(tmp_path, options, words):
    said = ablate("plan", write(tmp_path), *options, "--home", tmp_path / "home")
    assert (said.code, said.out) == (2, "")
    assert words in said.err
    assert "timing" not in said.err


def test_a_probe_needs_the_corpus():
    said = ablate("plan", TABLE3, "--row", "base", "--probe")
    assert said.code == 2
    assert "data.corpus" in said.err


# choosing and setting


def test_rows_and_seeds_are_chosen(tmp_path):
    path = write(tmp_path, seeds=[1, 2])
    said = ablate("plan", path, "--row", "one-head", "--seed", 2, "--format", "json")
    assert [(line["row"], line["seed"]) for line in json.loads(said.out)] == [("one-head", 2)]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (["--row", "one-haed"], "--row: the experiment has no row 'one-haed'; did you mean 'one-head'? "),
        (["--seed", "7"], "--seed: the experiment has no seed 7; there are: 1\n"),
    ],
)
def test_what_is_chosen_must_exist(tmp_path, option, words):
    said = ablate("plan", write(tmp_path), *option)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(words)


def test_keys_are_set_in_order(tmp_path):
    said = ablate("show", write(tmp_path), "--set", "train.steps=7", "--set", "train.steps=8", "--set", "seeds=[4, 5]")
    shown = yaml.safe_load(said.out)
    assert (shown["train"]["steps"], shown["seeds"]) == (8, [4, 5])


def test_a_setting_is_placed_where_it_was_written(tmp_path):
    said = ablate("check", write(tmp_path), "--set", "model.num_head=3")
    assert said.code == 2
    assert said.err == ("--set model.num_head=3: model.num_head: unknown key 'num_head'; did you mean 'num_heads'?\n")


# show


def test_show_reads_back_as_the_same_experiment(tmp_path):
    path, shown = write(tmp_path), tmp_path / "shown.yaml"
    shown.write_text(ablate("show", path).out, encoding="utf-8")
    assert ablate("show", shown).out == shown.read_text(encoding="utf-8")
    plans = [ablate("plan", file, "--format", "json").out for file in (path, shown)]
    assert plans[0] == plans[1]


def test_show_reads_back_whatever_shape_its_values_have(tmp_path):
    rows = {
        "base": {},
        "kernel": {"change": {"model.attention_score": {"name": "kernel"}, "train.adam_epsilon": 1.0e-10}},
        "no": {"label": "12", "change": {"model.sites.decoder.cross.attention_score": "additive"}},
    }
    path = write(tmp_path, rows)
    shown = tmp_path / "shown.yaml"
    shown.write_text(ablate("show", path).out, encoding="utf-8")
    plans = [json.loads(ablate("plan", file, "--format", "json").out) for file in (path, shown)]
    assert plans[0] == plans[1]


# what is refused


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nope"], 'Unknown command "nope"'),
        (["plan"], "parameter FILE requires an argument"),
        (["plan", "FILE", "--bogus", "3"], "Unknown option: --bogus"),
        (["plan", "FILE", "--format", "xml"], "xml"),
        (["plan", "FILE", "--seed", "one"], "one"),
        (["run", "FILE", "--workers", "many"], "many"),
        (["plugins", "show", "mask"], "requires an argument"),
    ],
)
def test_a_command_that_cannot_be_read_exits_with_2(tmp_path, arguments, words):
    path = write(tmp_path)
    said = ablate(*(path if argument == "FILE" else argument for argument in arguments))
    assert (said.code, said.out) == (2, "")
    assert words in said.err


@pytest.mark.parametrize("verb", ["check", "plan", "run", "report", "show", "sync"])
def test_a_file_that_there_is_not(tmp_path, verb):
    said = ablate(verb, tmp_path / "none.yaml")
    assert (said.code, said.out) == (2, "")
    assert said.err == f"{tmp_path / 'none.yaml'}: cannot be read: No such file or directory\n"


@pytest.mark.parametrize("verb", ["plan", "run", "report", "sync"])
def test_a_home_that_is_no_folder(tmp_path, verb):
    home = tmp_path / "home"
    home.write_text("a file")
    said = ablate(verb, write(tmp_path), "--home", home)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(str(home))
    assert said.err.endswith(": Not a directory\n")


# the program itself


def test_the_version_is_the_distributions():
    from importlib.metadata import version

    assert ablate("--version").out == f"{version('transformer-ablations')}\n"


def test_help_names_every_verb_and_loads_nothing_heavy():
    code = (
        "import sys, contextlib\nfrom framework.cli import main\n"
        "with contextlib.suppress(SystemExit):\n    main(['--help'])\n"
        "print(sorted({'torch', 'mlflow', 'optuna', 'polars'} & sys.modules.keys()))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.endswith("\n[]\n")
    assert all(verb in said.stdout for verb in VERBS)


@pytest.mark.parametrize("verb", ["plan", "report", "check"])
def test_a_terminal_that_lacks_a_character_shows_another_for_it(tmp_path, verb):
    path = write(tmp_path, {"base": {}, "same": {"label": "é", "group": "Δ", "change": {"model.d_ff": 16}}})
    bad = write(tmp_path, name="bad", model={"norm": "é"})
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [
        sys.executable,
        "-c",
        "from framework.cli import main; main()",
        verb,
        str(bad if verb == "check" else path),
    ]
    said = subprocess.run(command, capture_output=True, env={**os.environ, **plain}, cwd=tmp_path)
    assert said.returncode == (2 if verb == "check" else 0)
    assert "?" in (said.stdout + said.stderr).decode("ascii")
    assert b"Traceback" not in said.stderr


def test_a_reader_that_has_seen_enough_is_no_error():
    command = f"{sys.executable} -c 'from framework.cli import main; main()' plugins list | head -c 5"
    said = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (said.stdout, said.stderr) == ("atten", "")
