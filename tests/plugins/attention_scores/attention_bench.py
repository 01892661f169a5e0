"""Time and memory of attention with every score, beside PyTorch's fused dot product in the same run.

    python -m tests.plugins.attention_scores.attention_bench --output docs/results/attention-bench.md

One thread, by the processor's clock. In each round all ways of attending have a turn, each right after the fused dot
product, so that whatever else the machine does falls on both alike; a ratio is the median of the turns' ratios. All
lengths are timed twice: as the allocator of a new process works, and as it works once a large block was freed. Memory
is what a process of its own holds at its peak, above what it held before.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

import framework as fw
from framework.peak_memory import peak_memory_bytes, restart_peak_memory

CPU: Final = torch.device("cpu")
LENGTHS: Final = (64, 128, 256, 512, 1024)
TOKENS: Final = 1024
"""Batch size times length."""
D_K: Final = 64
NUM_HEADS: Final = 4
SECONDS: Final = 8.0
"""How long each length is timed, if the fewest rounds do not take longer."""
FEWEST: Final = 3
RARE: Final = 5
"""Broadcast tanh, slow by far, has a turn in the first rounds and then in one of so many."""
KEPT: Final = 31 * 2**20
"""Bytes. glibc gives freed memory back to the system, and takes it anew page by page, in blocks larger than the largest
that the process has freed so far, up to 32 MiB: what comes after it freed one of this size reuses memory."""
EXACT_ALLOCATOR: Final = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "0"}
"""Makes glibc take each tensor from the system and give it back at once, so that the peak is that of what is held."""

FUSED: Final = "PyTorch's fused dot product"
BROADCAST: Final = "additive, broadcast tanh"

Attend: TypeAlias = Callable[[Tensor, Tensor, Tensor], Tensor]


class Ratios(NamedTuple):
    """By way of attending, how often longer than the fused dot product it takes."""

    forward: dict[str, float]
    forward_and_backward: dict[str, float]


def ways() -> dict[str, Attend]:
    """By name, ways to get from query, key and value to the context; the fused dot product is the first."""
    dims = fw.Dims(
        d_model=NUM_HEADS * D_K,
        d_ff=D_K,
        d_k=D_K,
        d_v=D_K,
        num_heads=NUM_HEADS,
        num_layers=1,
        dropout=0.0,
        attention_dropout=0.0,
        feed_forward_dropout=0.0,
        projection_bias=True,
        site=fw.Site.ENCODER_SELF,
    )
    registry = fw.Registry.load()

    def by(score: fw.AttentionScore) -> Attend:
        return lambda query, key, value: fw.attend(score, query, key, value)

    def broadcast(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        pairs = torch.tanh(query[:, :, :, None] + key[:, :, None])  # (B, H, Q, K, d_k)
        return (pairs @ v[:, None, :, None]).squeeze(-1).softmax(-1) @ value

    scores = {}
    for name in registry.names("attention_score"):
        plugin = registry.plugin("attention_score", name)
        scores[name] = plugin(plugin.Options(), dims)
    v = scores["additive"].v
    return {FUSED: F.scaled_dot_product_attention, **{name: by(scores[name]) for name in scores}, BROADCAST: broadcast}


def draw(length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value as a mixer's projections give them: `(B, H, L, d_k)`, heads beside one another."""
    shape = (TOKENS // length, length, NUM_HEADS, D_K)
    query, key, value = (torch.randn(shape).transpose(1, 2).requires_grad_() for _ in range(3))
    return query, key, value


def forward(attend: Attend, inputs: Sequence[Tensor]) -> None:
    with torch.no_grad():
        attend(*inputs)


def forward_and_backward(attend: Attend, inputs: Sequence[Tensor]) -> None:
    context = attend(*inputs)
    torch.autograd.grad(context, inputs, torch.ones_like(context))


def seconds(step: Callable[[Attend, Sequence[Tensor]], None], attend: Attend, inputs: Sequence[Tensor]) -> float:
    started = time.process_time()  # what others do on the machine meanwhile is not counted
    step(attend, inputs)
    return time.process_time() - started


def reuse_memory() -> None:
    """Free one large block, so that this process gives no smaller ones back from now on."""
    torch.empty(KEPT, dtype=torch.uint8)


def compare(length: int, at_least: float) -> Ratios:
    """Time all ways at one length, for `at_least` so many seconds."""
    inputs, candidates = draw(length), ways()
    fused = candidates[FUSED]
    for attend in candidates.values():
        forward_and_backward(attend, inputs)  # the first call of each operation chooses its code
    found = Ratios({}, {})
    for step, ratios in ((forward, found.forward), (forward_and_backward, found.forward_and_backward)):
        turns: dict[str, list[float]] = {name: [] for name in candidates}
        ends, rounds = time.perf_counter() + at_least / 2, 0
        while rounds < FEWEST or time.perf_counter() < ends:
            step(fused, inputs)  # broadcast tanh, the last of a round, leaves caches and allocator to itself
            for name, attend in candidates.items():
                if name != BROADCAST or rounds < FEWEST or rounds % RARE == 0:
                    beside = seconds(step, fused, inputs)
                    turns[name].append(seconds(step, attend, inputs) / beside)
            rounds += 1
        ratios.update({name: median(each) for name, each in turns.items()})
    return found


def peak_megabytes(name: str, lengths: Sequence[int]) -> list[float]:
    """Give what attending and its gradient hold at their peak, by length, measured in a new process."""
    command = [sys.executable, "-m", __spec__.name, "--peak", name, "--lengths", *map(str, lengths)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | EXACT_ALLOCATOR)
    return [float(number) for number in answer.stdout.split()]


def own_peak_megabytes(name: str, length: int) -> float:
    attend, inputs = ways()[name], draw(length)
    restart_peak_memory(CPU)
    before = peak_memory_bytes(CPU)
    forward_and_backward(attend, inputs)
    return (peak_memory_bytes(CPU) - before) / 1e6


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, [":---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def page(lengths: Sequence[int], at_least: float) -> str:
    """Measure, and say it in Markdown."""
    lengths = sorted(lengths)  # longer ones free larger blocks
    new = [compare(length, at_least) for length in lengths]
    reuse_memory()
    reusing = [compare(length, at_least) for length in lengths]
    names = list(ways())
    head = ["score", *map(str, lengths)]

    def times(ratios: Sequence[Ratios], which: str) -> str:
        found = [getattr(each, which) for each in ratios]
        return table(head, ([name, *(f"{each[name]:.2f}" for each in found)] for name in names))

    def faster(which: str) -> list[str]:
        found = [getattr(each, which) for each in new]
        return [which.replace("_", " "), *(f"{each[BROADCAST] / each['additive']:.1f}" for each in found)]

    speedup = table(["pass", *map(str, lengths)], map(faster, Ratios._fields))
    memory = table(head, ([name, *(f"{peak:,.0f}" for peak in peak_megabytes(name, lengths))] for name in names))
    cores = f"{os.cpu_count()} cores of {platform.machine()} with {torch.backends.cpu.get_cpu_capability()}"
    return f"""# What a score costs

Attention with each score, beside PyTorch's fused dot product in the same run. Made by

    make bench-attention

on {cores}, torch {torch.__version__}, one thread, float32.
{TOKENS:,} tokens (batch size times length), {NUM_HEADS} heads with d_k = d_v = {D_K}, no mask, default options.
Columns are lengths. "{BROADCAST}" is v·tanh(q + k) written out over all pairs and not compiled.
The first row, the fused dot product beside itself, shows how far a number can be trusted within a run.

Short lengths hang on the allocator. glibc gives freed memory back to the system, and takes it anew page by page, in
blocks larger than the largest of at most 32 MiB that the process has freed so far. A score with more intermediate
tensors pays more for it. So all is timed twice: in a process that has freed little more than what is timed, and again
after it freed a block of {KEPT / 2**20:.0f} MiB, from where on memory is reused. A training on a CPU lies between the
two: the logits of a batch, one of its largest blocks, take 2 MB in experiments/quickstart.yaml and 16 in
experiments/verses.

## Forward and backward: time as a multiple of the fused dot product's

{times(new, "forward_and_backward")}

## The same where memory is reused

{times(reusing, "forward_and_backward")}

## Forward alone

{times(new, "forward")}

## Forward alone where memory is reused

{times(reusing, "forward")}

## How many times faster the additive score is than broadcast tanh

{speedup}

## Memory: megabytes at the peak of forward and backward, beyond the inputs

{memory}

Times are medians over rounds in which all had a turn. Memory is the growth of a new process's peak resident set. As the
number of tokens is the same, that of pairs grows with the length: for the additive score the table's memory grows with
the pairs, for broadcast tanh with d_k times the pairs.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and memory of attention with every score.")
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long each length is timed, at least")
    parser.add_argument("--output", type=Path, help="where the page is written, besides being printed")
    parser.add_argument("--peak", metavar="NAME", help="print the peaks of this one, in megabytes, and nothing else")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if chosen.peak:
        forward_and_backward(ways()[chosen.peak], draw(min(LENGTHS)))  # loads the code
        print(*(own_peak_megabytes(chosen.peak, length) for length in chosen.lengths))
        return
    text = page(chosen.lengths, chosen.seconds)
    print(text)
    if chosen.output:
        chosen.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
