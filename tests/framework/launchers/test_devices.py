import pytest
import torch

from framework.errors import SpecError
from framework.launchers import LocalWorkers, devices_found, require_devices
from framework.launchers.local import _Worker
from tests.framework.trial_bench import Bench


def test_the_cpu_is_a_device_of_every_machine():
    assert devices_found()[0] == "cpu"
    assert require_devices(["cpu", "cpu"]) == ("cpu", "cpu")
    assert require_devices([]) == ()


def test_gpus_are_found_as_torch_counts_them(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert devices_found() == ("cpu", "cuda:0", "cuda:1")
    assert require_devices(["cuda:1"]) == ("cuda:1",)
    with pytest.raises(SpecError, match=r"--devices: this machine has no device 'cuda:2'; did you mean 'cuda:1'"):
        require_devices(["cuda:0", "cuda:2"])


def test_a_device_that_is_not_there_is_refused_by_its_name():
    with pytest.raises(SpecError, match=r"--devices: this machine has no device 'meta'; there are: cpu"):
        require_devices(["meta"])


def test_places_take_turns_on_devices(monkeypatch, tmp_path, registry):
    """What a worker is told when it starts."""
    told = []
    monkeypatch.setattr(_Worker, "send", lambda worker, message: told.append(message.get("device")))
    trial = Bench(tmp_path, registry).trials["base"]
    with LocalWorkers(3, tmp_path, (), tmp_path / "logs", ["cuda:0", "cuda:1"]) as launcher:
        for _ in range(3):
            launcher.submit(trial)
    assert [device for device in told if device] == ["cuda:0", "cuda:1", "cuda:0"]
