"""A plugin to which things happen. Given to experiments by its path."""

import os
import signal
import sys
from typing import Literal

import torch
from torch import Tensor

import framework as fw


class Mishap(fw.AttentionScore):
    """Raises, exits, dies or talks, as asked, the first time that it scores in training."""

    name = "mishap"

    class Options(fw.Options):
        how: Literal["raises", "exits", "exits_hard", "dies", "talks"]

    options: Options

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        if not torch.is_grad_enabled() or query.size(0) <= 3:  # nor where only its contract is tried
            return query @ key.transpose(-2, -1)  # (B, H, Q, K)
        if self.options.how == "raises":
            raise RuntimeError("it happened\nand more")
        if self.options.how == "exits":
            sys.exit(3)
        if self.options.how == "exits_hard":
            print("last words", flush=True)
            os._exit(7)
        if self.options.how == "dies":
            os.kill(os.getpid(), signal.SIGSEGV)
        print("{}")
        os.write(1, b'{"error": "not the worker\'s word"}\n')
        return query @ key.transpose(-2, -1)  # (B, H, Q, K)


@fw.hookimpl
def attention_score() -> type[fw.AttentionScore]:
    return Mishap
