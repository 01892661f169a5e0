from __future__ import annotations

import sys
from mmap import PAGESIZE, mmap

import pytest
import torch

from framework import peak_memory
from framework.peak_memory import peak_memory_bytes, restart_peak_memory

CPU = torch.device("cpu")
MEBIBYTE = 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot count anew")
def test_the_peak_rises_with_what_is_held_and_falls_at_a_restart():
    restart_peak_memory(CPU)
    before = peak_memory_bytes(CPU)
    held = mmap(-1, 64 * MEBIBYTE)  # of the system: the allocator may have as much at hand, left by earlier tests
    for page in range(0, len(held), PAGESIZE):
        held[page] = 1
    risen = peak_memory_bytes(CPU)
    assert risen - before > 50 * MEBIBYTE
    held.close()
    assert peak_memory_bytes(CPU) >= risen - MEBIBYTE  # the peak stays
    restart_peak_memory(CPU)
    assert peak_memory_bytes(CPU) < risen - 50 * MEBIBYTE


def test_a_system_without_proc_tells_the_peak_of_the_whole_process(monkeypatch, tmp_path):
    monkeypatch.setattr(peak_memory, "_STATUS", tmp_path / "missing" / "status")
    monkeypatch.setattr(peak_memory, "_CLEAR", tmp_path / "missing" / "clear_refs")
    restart_peak_memory(CPU)
    assert peak_memory_bytes(CPU) > MEBIBYTE
