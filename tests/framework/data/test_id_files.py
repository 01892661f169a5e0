from __future__ import annotations

import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from framework.data.id_files import IdFileWriter, open_id_file
from framework.data.sequences import Sequences


def sequences(*lists):
    ids = torch.tensor([number for some in lists for number in some], dtype=torch.int32)
    return Sequences.of(ids, torch.tensor([len(some) for some in lists], dtype=torch.int64))


def written(path, *parts):
    with IdFileWriter(path) as writer:
        for part in parts:
            writer.append(part)
    return path


def test_sequences_come_back_however_they_were_appended(tmp_path):
    lists = [[3, 4, 70_000], [], [5], [6, 7]]
    path = written(tmp_path / "a.safetensors", sequences(*lists[:2]), sequences(), sequences(*lists[2:]))
    found = open_id_file(path)
    assert [ids.tolist() for ids in found.take(torch.arange(4))] == lists
    assert found.lengths.tolist() == [3, 0, 1, 2]
    assert path.read_bytes() == written(tmp_path / "b.safetensors", sequences(*lists)).read_bytes()


def test_a_file_is_of_the_librarys_own_format(tmp_path):
    found = load_file(written(tmp_path / "a.safetensors", sequences([1, 2], [3])))
    assert {name: tensor.tolist() for name, tensor in found.items()} == {"ids": [1, 2, 3], "lengths": [2, 1]}
    assert {tensor.dtype for tensor in found.values()} == {torch.int32}


@pytest.mark.parametrize("parts", [[], [sequences()], [sequences([], [])]])
def test_a_file_may_be_of_nothing(tmp_path, parts):
    found = open_id_file(written(tmp_path / "a.safetensors", *parts))
    assert len(found.ids) == 0
    assert len(found) == sum(map(len, parts))


class Stopped(Exception):
    pass


def left_in_the_middle(path):
    with IdFileWriter(path) as writer:
        writer.append(sequences([1, 2]))
        raise Stopped


def test_a_file_that_was_left_in_the_middle_is_not_mistaken_for_a_whole_one(tmp_path):
    path = tmp_path / "a.safetensors"
    with pytest.raises(Stopped):
        left_in_the_middle(path)
    with pytest.raises(SafetensorError, match="header"):
        open_id_file(path)
