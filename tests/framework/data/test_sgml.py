from __future__ import annotations

import gzip

import pytest

from framework.data.reading import read_line_pairs
from framework.data.sgml import iter_segments
from framework.errors import SpecError

# As in WMT's files, by the rules of sacreBLEU's reader of them (sacrebleu/dataset/fake_sgml.py, version 2.6).
SOURCE = """<srcset setid="newstest2013" srclang="any">
<doc sysid="ref" docid="cesky.1" genre="news" origlang="cs">
<hl>
<seg id="1">A  Republican strategy </seg>
</hl>
<p>
<seg id="2">Barnes &amp; Noble <said> "no"</seg>
  <seg id="3"></seg>
</p>
</doc>
</srcset>
"""


def test_sentences_are_what_stands_between_the_tags(tmp_path):
    (tmp_path / "t.sgm").write_text(SOURCE)
    assert list(iter_segments(tmp_path / "t.sgm")) == ["A Republican strategy", 'Barnes &amp; Noble <said> "no"', ""]


def test_files_of_segments_pair_up_with_files_of_lines(tmp_path):
    (tmp_path / "src.en.sgm.gz").write_bytes(gzip.compress(SOURCE.encode()))
    (tmp_path / "ref.de").write_text("eins\nzwei\ndrei\n")
    pairs = read_line_pairs(tmp_path / "src.en.sgm.gz", tmp_path / "ref.de")
    assert [pair.target for pair in pairs] == ["eins", "zwei", "drei"]
    assert next(iter(pairs)).source == "A Republican strategy"


def test_a_segment_that_goes_on_is_refused_at_its_line(tmp_path):
    (tmp_path / "t.sgm").write_text('<seg id="1">a</seg>\n<seg id="2">b\nc</seg>\n')
    said = r"t\.sgm:2: a <seg> does not end on its line: write each sentence on one line"
    with pytest.raises(SpecError, match=said):
        list(iter_segments(tmp_path / "t.sgm"))


def test_plain_text_of_that_name_is_refused(tmp_path):
    (tmp_path / "t.sgm").write_text("a dog\n")
    with pytest.raises(SpecError, match=r"t\.sgm: no line has a <seg>: rename the file if it is plain text"):
        list(iter_segments(tmp_path / "t.sgm"))
