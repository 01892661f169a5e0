from __future__ import annotations

import json

import pytest
import torch

from framework.frames import innermost_frame


def raised(function):
    try:
        function()
    except Exception as error:
        return innermost_frame(error)
    raise AssertionError("nothing was raised")


def misuse_torch():
    torch.nn.Linear(2, 2)(torch.ones(3))


def misuse_the_standard_library():
    json.loads("{")


def test_the_line_that_called_a_library_is_told():
    for function in (misuse_torch, misuse_the_standard_library):
        frame = raised(function)
        assert (frame.filename, frame.name) == (__file__, function.__name__)
        assert frame.lineno == function.__code__.co_firstlineno + 1


def test_where_all_code_is_installed_it_is_the_innermost_of_all(tmp_path):
    installed = str(tmp_path / "site-packages" / "mine.py")
    scope: dict[str, object] = {}
    exec(compile("def outer():\n    inner()\ndef inner():\n    1 / 0\n", installed, "exec"), scope)
    with pytest.raises(ZeroDivisionError) as caught:
        scope["outer"]()  # type: ignore[operator]
    error = caught.value.with_traceback(caught.tb.tb_next)  # without this file's own frame
    assert innermost_frame(error).name == "inner"
