"""Scores of a whole corpus of generated text, counted by sacreBLEU: Post 2018, arXiv:1804.08771.

Each by its full name:

- `bleu`: BLEU (Papineni et al. 2002) of detokenised text with sacreBLEU's 13a tokens, which compares across papers
- `bleu_compound_split`: BLEU as the paper's authors counted theirs (`compound_split.py`), for the paper's column alone
- `chrf`: chrF2 (Popović 2015), which counts characters and so depends on no tokenizer
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from framework.errors import SpecError
from framework.evaluate.compound_split import compounds_split, languages, tokenisation
from framework.spec.suggest import choices

TEXT_METRICS: Final = ("bleu", "bleu_compound_split", "chrf")


@dataclass(frozen=True, slots=True)
class CorpusScore:
    """A score from 0 to 100, and how it was counted: scores with unlike signatures do not compare."""

    score: float
    signature: str


@dataclass(frozen=True, slots=True)
class TextMetric:
    """How one of `TEXT_METRICS` is counted."""

    counter: Any
    """sacreBLEU's."""
    tokenised: Callable[[Sequence[str]], list[str]] = list
    """What is done to raw lines before they reach the counter."""
    tokenisation: str | None = None
    """What that is called, where the counter's own signature knows nothing of it."""

    def score(self, hypotheses: Sequence[str], references: Sequence[str]) -> CorpusScore:
        """Score detokenised text against one raw reference per line.

        Empty lines are allowed and count. BLEU multiplies the precisions of 1- to 4-grams over the whole corpus:
        where no line has four words it is 0, even for perfect output. Raises `ValueError` for unequal numbers of
        lines, or none.
        """
        if len(hypotheses) != len(references):
            raise ValueError(f"{len(hypotheses)} hypotheses cannot be scored against {len(references)} references")
        if not references:
            raise ValueError("there are no lines to score")
        score = self.counter.corpus_score(self.tokenised(hypotheses), [self.tokenised(references)]).score
        # sacrebleu takes the mean by logarithms and gives perfect output 100.00000000000004.
        return CorpusScore(min(score, 100.0), self.signature(self.counter.get_signature()))

    def signature(self, counted: object) -> str:
        """Complete the signature that sacreBLEU gives by what it does not know."""
        if self.tokenisation is None:
            return str(counted)
        return str(counted).replace("tok:none", f"tok:{self.tokenisation}")


def text_metric(name: str, language: str) -> TextMetric:
    """Give one of `TEXT_METRICS`; the Moses tokenizer is the `language`'s, such as `de`.

    Raises `SpecError` for a language that it is asked for and does not know.
    """
    # force: sacrebleu would log what `doubts` says, once per process
    if name == "bleu":
        return TextMetric(BLEU(tokenize="13a", force=True))
    if name == "bleu_compound_split":
        if language not in languages():
            raise SpecError(
                f"the Moses tokenizer of {name} knows no language {language!r}{choices(language, languages())}",
                "evaluate.moses_language",
            )
        counter = BLEU(tokenize="none", smooth_method="none", force=True)  # as multi-bleu.perl counts
        return TextMetric(counter, partial(compounds_split, language=language), tokenisation(language))
    assert name == "chrf", "the names are listed above"
    return TextMetric(CHRF())
