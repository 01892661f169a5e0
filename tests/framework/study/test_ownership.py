from __future__ import annotations

import os
import re

import pytest

from framework.errors import FrameworkError, Locked
from framework.study import owned


def test_a_second_owner_is_refused_and_told_who_the_first_is(tmp_path):
    pid, host = os.getpid(), re.escape(os.uname().nodename)
    said = (
        rf"^experiment 'tiny' is being run by another coordinator: .*\"pid\": {pid}, \"host\": \"{host}\", \"since\": "
    )
    with owned("tiny", tmp_path):
        with pytest.raises(FrameworkError, match=said) as refused, owned("tiny", tmp_path):
            pass
        assert str(refused.value).endswith("Wait for it, or stop it first")
        with owned("another", tmp_path):
            pass
    with owned("tiny", tmp_path):
        pass


def test_locks_of_others_are_not_mistaken_for_its_own(tmp_path):
    with pytest.raises(Locked, match=r"^a trial's$"), owned("tiny", tmp_path):
        raise Locked("a trial's")
