"""Summaries and trials → the page's tables, in Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from docs.essay.page import table
from docs.results.table3_small.results import Results
from framework.report.layout import MISSING, columns
from framework.report.summary import RowSummary
from framework.report.table import Report
from framework.spec import TrialSpec

PERPLEXITY: Final = {
    "n": "n",
    "perplexity": "perplexity",
    "Δ perplexity": "Δ perplexity",
    "ref. Δ": "the paper's Δ",
    "verdict": "verdict",
    "BLEU": "BLEU",
    "chrf": "chrF",
    "params (M)": "parameters (M)",
    "minutes": "minutes",
}
"""Columns of `ablate report`, and how the page heads them."""

TRANSLATIONS: Final = {
    "n": "n",
    "BLEU": "BLEU",
    "Δ BLEU": "Δ BLEU",
    "ref. Δ BLEU": "the paper's Δ BLEU",
    "bleu_compound_split": "BLEU, compounds split",
    "Δ bleu_compound_split": "Δ of it",
    "chrf": "chrF",
    "Δ chrf": "Δ chrF",
}

SIZES: Final[dict[str, Callable[[TrialSpec], object]]] = {
    "layers of each stack (N)": lambda base: base.model.num_layers,
    "d_model": lambda base: base.model.d_model,
    "d_ff": lambda base: base.model.d_ff,
    "heads (h)": lambda base: base.model.num_heads,
    "d_k, d_v": lambda base: f"{base.model.d_k}, {base.model.d_v}",
    "dropout": lambda base: base.model.dropout,
    "label smoothing": lambda base: base.train.label_smoothing,
    "vocabulary": lambda base: f"{base.data.tokenizer.vocabulary_size:,}",
    "pieces a sentence at most": lambda base: base.data.max_pieces,
    "updates": lambda base: f"{base.train.steps:,}",
    "padded tokens a side of a batch": lambda base: f"{base.train.batch_tokens:,}",
    "warm-up, updates": lambda base: f"{base.train.warmup_steps:,}",
    "factor of the learning rate": lambda base: base.train.learning_rate_factor,
}
"""What base is made of, here and in the paper."""


def sizes(found: Results) -> str:
    """Base at both scales."""
    rows = [(name, str(of(found.paper_base)), str(of(found.base))) for name, of in SIZES.items()]
    return table(("base", "the paper", "here"), [(name.replace("_", "\\_"), *rest) for name, *rest in rows])


def scores(found: Results, summaries: Sequence[RowSummary], titles: Mapping[str, str]) -> str:
    """Some rows with some columns of `ablate report`; without a reference there are no columns of one."""
    cells = {column.title: column.cells for column in columns(found.report.summaries)}
    chosen = {
        title: heading
        for title, heading in titles.items()
        if not title.startswith("ref.") or any(row.row in found.paper_changes for row in summaries)
    }
    rows = [
        (f"`{row.row}`", change(found, row), *(cells.get(title, {}).get(row.row, MISSING) for title in chosen))
        for row in summaries
    ]
    return table(("row", "change", *chosen.values()), rows, words=2)


def change(found: Results, row: RowSummary) -> str:
    """What a row changes: in words where it has a label, else the fields, with the paper's own values."""
    if row.label != row.row:
        return row.label
    ours, theirs = found.changes[row.row], found.paper_changes.get(row.row, {})
    if not ours:
        return MISSING
    return ", ".join(
        f"`{_field(key)}` {_plain(value)}" + (f" ({_plain(theirs[key])})" if theirs.get(key, value) != value else "")
        for key, value in ours.items()
    )


def directions(rows: Iterable[RowSummary]) -> str:
    """Which side of base each row lies on, in the paper and here."""
    return table(
        ("row", "the paper's Δ perplexity", "relative", "ours", "verdict", "the same side"),
        [
            (
                f"`{row.row}`",
                f"{row.reference.perplexity_points:+.2f}",
                f"{(row.reference.perplexity_difference or 0.0) * 100:+.1f}%",
                MISSING
                if row.perplexity_difference is None
                else f"{row.perplexity_difference.estimate.mean * 100:+.1f}%",
                row.verdict or MISSING,
                {True: "yes", False: "**no**", None: MISSING}[same_side(row)],
            )
            for row in rows
        ],
    )


def large(found: Results) -> tuple[RowSummary, ...]:
    """The rows whose difference to base, as printed, is large enough for its direction to be compared."""
    threshold = found.report.experiment.report.reference_threshold
    return tuple(
        row
        for row in found.paper
        # Printed figures differ by what they say in decimals: 5.12 - 4.92 is 0.2.
        if row.reference.perplexity_points is not None and round(abs(row.reference.perplexity_points), 9) >= threshold
    )


def same_side(row: RowSummary) -> bool | None:
    """Whether a row's mean lies on the paper's side of base; None while it is not measured."""
    if row.perplexity_difference is None or row.reference.perplexity_points is None:
        return None
    return row.perplexity_difference.estimate.mean * row.reference.perplexity_points > 0


def trials(report: Report) -> str:
    """A line for each trial that ended, with links to its folder and its scores."""
    split = report.yardstick.split
    names = ("row", "seed", "status", "train_key", "evaluate_key", *(f"{split}/{name}" for name in _METRICS))
    lines = []
    for row, seed, status, train, evaluate, *figures in report.trials.select(names).iter_rows():
        if status not in ("done", "diverged"):
            continue
        folder = f"table3-small/trials/{train}"
        measured = f"[{evaluate}]({folder}/evaluations/{evaluate}.json)" if status == "done" else status
        shown = [MISSING if figure is None else f"{figure:.4f}" for figure in figures]
        lines.append((f"`{row}`", str(seed), *shown, f"[{train}]({folder})", measured))
    return table(("row", "seed", *_METRICS.values(), "training", "scores"), lines)


_METRICS: Final = {
    "perplexity": "perplexity",
    "smoothed_perplexity": "smoothed",
    "bleu": "BLEU",
    "bleu_compound_split": "compounds split",
    "chrf": "chrF",
}


def _field(key: str) -> str:
    return key.rpartition(".")[2]


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
