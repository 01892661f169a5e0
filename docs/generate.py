"""Writes docs/experiment-file.md from the specs, so that fields and defaults are stated once, and the other pages.

Run by `make docs`.
"""

from __future__ import annotations

import json
from pathlib import Path

from pydantic.fields import FieldInfo

from docs import kit
from docs.essay import essay
from docs.results.table3_small import page as table3_small
from framework.spec import (
    DataSpec,
    EvaluateSpec,
    ExperimentSpec,
    ModelSpec,
    ReferenceSpec,
    ReportSpec,
    RowSpec,
    TrainSpec,
)
from framework.spec.base import INCIDENTAL, Spec
from framework.spec.data import TokenizerSpec
from framework.spec.describe import takes

PAGE = Path(__file__).with_name("experiment-file.md")

HEAD = """# The experiment file

Generated from the specs by `make docs`. An example with all sections is
[experiments/verses/scores.yaml](../experiments/verses/scores.yaml); `ablate show FILE` prints a file with every default
filled in.

YAML is read by the 1.2 core rules: `1e-4` is a number, `no` is text, duplicate keys and tabs are errors. A bool is
never a number, and numbers are finite. Unknown keys are errors at every depth.

- **`extends: other.yaml`** lays this file over another one, relative to this file: mappings merge, lists and
  components are replaced whole, rows merge by name.
- **A component** is a plugin's name, or `{name: …, options: {…}}`. Assigning one replaces it whole, options included.
- **A change** of a row is a dotted key and its new value: `model.num_heads: 1`,
  `model.sites.decoder.cross.attention_score: additive`. `….options.x` changes one option and keeps the others.
- **`--set KEY=VALUE`** changes the base in the same way; a row's own change of that key wins.
- **Paths** in `plugins` start at the folder of the file that writes them, paths in a corpus's options at the folder of
  the file that names the corpus.
- Fields marked ○ change neither weights nor scores and stay out of a trial's keys.
"""

SITES = (
    "Sites are `encoder.self`, `decoder.self` and `decoder.cross`: each takes `mixer`, `attention_score` and `mask` of "
    "its own, as in `sites: {decoder: {cross: {attention_score: additive}}}`."
)

SECTIONS: dict[str, tuple[type[Spec], str]] = {
    "Top level": (ExperimentSpec, ""),
    "`model`": (ModelSpec, SITES),
    "`data`": (DataSpec, ""),
    "`data.tokenizer`": (TokenizerSpec, ""),
    "`train`": (TrainSpec, ""),
    "`evaluate`": (EvaluateSpec, ""),
    "`rows.NAME`": (RowSpec, ""),
    "`rows.NAME.reference`": (ReferenceSpec, ""),
    "`report`": (ReportSpec, ""),
}


def page() -> str:
    """The whole page as Markdown."""
    parts = [HEAD]
    for title, (spec, note) in SECTIONS.items():
        summary = (spec.__doc__ or "").strip().partition("\n")[0]
        lines = [f"## {title}", "", summary, "", "| field | what it takes | default | |", "|---|---|---|---|"]
        for name, field in spec.model_fields.items():
            mark = " ○" if INCIDENTAL in field.metadata else ""
            meaning = " ".join((field.description or "").split())
            lines.append(f"| `{name}`{mark} | {takes(field)} | {default(field)} | {meaning} |")
        parts.append("\n".join([*lines, *(["", note] if note else [])]) + "\n")
    return "\n".join(parts)


def default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, Spec) or value == {}:
        return "see below" if isinstance(value, Spec) or field.annotation in (ModelSpec, TrainSpec) else "`{}`"
    if isinstance(value, dict):
        return "one row, `base`"
    return f"`{json.dumps(value)}`" if not isinstance(value, str) else f"`{value}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    kit.PAGE.write_text(kit.page(), encoding="utf-8")
    essay.write()
    table3_small.write()
