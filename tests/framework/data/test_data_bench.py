"""The measurement of what a long corpus costs takes the road of a run."""

from __future__ import annotations

from tests.framework.data import data_bench
from tests.framework.data.data_bench import measure, page, spelled, write_corpus


def test_the_road_from_files_to_batches_is_measured_part_by_part(tmp_path, monkeypatch):
    monkeypatch.setattr(data_bench, "VOCABULARY_SIZE", 400)
    write_corpus(tmp_path, 500)
    lines = [(tmp_path / f"train.{language}").read_text().splitlines() for language in ("en", "de")]
    assert len(lines[0]) == len(lines[1]) == 500
    assert all(line.split() for side in lines for line in side)
    found = measure(tmp_path)
    assert found.read == found.pairs <= 500  # an epoch has fewer batches than are read at most
    assert all(part.seconds > 0 and part.megabytes > 50 for part in found.parts.values())
    said = page(found)
    assert "make bench-data" in said
    assert all(f"| {name} | " in said for name in found.parts)


def test_each_number_is_spelled_as_a_word_of_its_own():
    words = [spelled(number) for number in range(1, 20_000)]
    assert len(set(words)) == len(words)
    assert len(words[0]) < len(words[-1])
