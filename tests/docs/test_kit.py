"""The kit's page says what the kit tries."""

from __future__ import annotations

from docs import kit


def test_the_page_is_the_one_that_the_kit_writes():
    assert kit.PAGE.read_text(encoding="utf-8") == kit.page(), "run `make docs`"
