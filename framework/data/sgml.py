"""The files in which WMT published its test sets until 2020, such as `newstest2013-src.en.sgm`.

They look like SGML and are not: no parser reads all of them. What stands between `<seg …>` and `</seg>` on a line is a
sentence, its white space folded and its entities left as they are, as sacreBLEU reads the same files, so that scores
compare.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from framework.data.lines import iter_lines
from framework.errors import Place, Problem, SpecError

ENDINGS: Final = (".sgm", ".sgm.gz")

_SEGMENT: Final = re.compile(r"\s*<seg\b[^>]*>(.*)</seg>")


def iter_segments(path: Path) -> Iterator[str]:
    """Give the sentences of a file. Raises as `iter_lines` does, and `SpecError` where a sentence does not end."""
    found = False
    for number, line in enumerate(iter_lines(path), start=1):
        if match := _SEGMENT.match(line):
            found = True
            yield " ".join(match[1].split())
        elif line.lstrip().startswith("<seg"):
            raise SpecError(
                Problem(
                    "a <seg> does not end on its line: write each sentence on one line", place=Place(str(path), number)
                )
            )
    if not found:
        raise SpecError(
            Problem(
                "no line has a <seg>: rename the file if it is plain text, which needs no .sgm", place=Place(str(path))
            )
        )
