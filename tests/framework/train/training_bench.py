"""Speed of training and decoding beside other libraries, in the same run.

    python -m tests.framework.train.training_bench --output docs/results/training-bench.md

One thread, by the processor's clock. In each round all systems make one step on the same batch, so that whatever else
the machine does falls on all alike; a ratio is the median over rounds of a round's own ratio.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from statistics import median, quantiles
from typing import Final

import torch

from framework.contracts import Batch
from tests.framework.train.systems.system import (
    LENGTH,
    NUM_HEADS,
    NUM_LAYERS,
    SENTENCES,
    VOCABULARY,
    Sizes,
    System,
    Translator,
    random_batch,
)
from tests.framework.train.training_bench_page import Decoding, Rates, Training, page
from tests.framework.train.waste import wasted_shares

SYSTEMS: Final = {
    "ours": "Ours",
    "marian": "Marian",
    "joey": "Joey",
    "x_transformers": "XTransformers",
    "torch_nn": "TorchNN",
}
"""Module in `systems` → class."""
HALF_TOO: Final = ("ours", "marian")
"""Those that are timed in bfloat16 as well, by autocast, as training does it."""
WIDTHS: Final = (128, 256, 512)
BATCHES: Final = 4
"""Different batches that rounds take in turn."""
WARM_UP: Final = 2
"""First rounds that are not counted: code is chosen, optimizer states are made, the allocator finds its sizes."""
FEWEST: Final = 5
SECONDS: Final = 120.0


def sizes_of(d_model: int) -> Sizes:
    return Sizes(d_model, 4 * d_model, NUM_HEADS, NUM_LAYERS, VOCABULARY)


def load(module: str, sizes: Sizes) -> System:
    torch.manual_seed(0)
    system: System = getattr(import_module(f"tests.framework.train.systems.{module}"), SYSTEMS[module])(sizes)
    return system


def training_step(system: System, half: bool) -> Callable[[Batch], None]:
    """What is timed: gradients set to None, forward, loss, backward, and Adam in its fused form."""
    optimizer = torch.optim.Adam(
        [weight for weight in system.model.parameters() if weight.requires_grad],
        lr=1e-4,
        betas=(0.9, 0.98),
        eps=1e-9,
        fused=True,
    )

    def step(batch: Batch) -> None:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16) if half else nullcontext():
            loss = system.loss(batch)
        loss.backward()
        optimizer.step()

    return step


def rates(turns: dict[str, Callable[[int], float]], at_least: float) -> dict[str, Rates]:
    """Let all have a turn per round, for `at_least` so many seconds. A turn gives how much it did, at its own speed."""
    seconds: dict[str, list[float]] = {name: [] for name in turns}
    done: list[float] = []
    ends, number = time.perf_counter() + at_least, 0
    while number < WARM_UP + FEWEST or time.perf_counter() < ends:
        for name, turn in turns.items():
            started = time.process_time()  # what others do on the machine meanwhile is not counted
            amount = turn(number)
            took = time.process_time() - started
            if number >= WARM_UP:
                seconds[name].append(took)
        if number >= WARM_UP:
            done.append(amount)
        number += 1
    found: dict[str, Rates] = {}
    for name, own in seconds.items():
        each = [amount / second for amount, second in zip(done, own, strict=True)]
        times = {other: median(b / a for a, b in zip(own, theirs, strict=True)) for other, theirs in seconds.items()}
        low, _, high = quantiles(each, n=4, method="inclusive")
        found[name] = Rates(median(each), low, high, times)
    return found


def train(d_model: int, modules: Sequence[str], at_least: float) -> Training:
    sizes = sizes_of(d_model)
    generator = torch.Generator().manual_seed(0)
    batches = [random_batch(sizes, generator) for _ in range(BATCHES)]
    turns, parameters = {}, {}
    for half in (False, True):
        for module in modules if not half else filter(modules.__contains__, HALF_TOO):
            system = load(module, sizes)
            name = f"{system.name}, bfloat16" if half else system.name
            parameters[name] = sum(weight.numel() for weight in system.model.parameters() if weight.requires_grad)
            turns[name] = _turn(training_step(system, half), batches)
    return Training(d_model, rates(turns, at_least), parameters)


def _turn(step: Callable[[Batch], None], batches: Sequence[Batch]) -> Callable[[int], float]:
    def turn(number: int) -> float:
        batch = batches[number % len(batches)]
        step(batch)
        return int(batch.scored.sum())

    return turn


def decode(d_model: int, modules: Sequence[str], at_least: float) -> Decoding:
    sizes = sizes_of(d_model)
    source = torch.randint(3, VOCABULARY, (SENTENCES, LENGTH), generator=torch.Generator().manual_seed(0))
    translators = [system for system in (load(module, sizes) for module in modules) if isinstance(system, Translator)]

    def translating(system: Translator) -> Callable[[int], float]:
        def turn(number: int) -> float:
            outputs = system.translate(source, LENGTH)
            assert [len(output) for output in outputs] == [LENGTH] * SENTENCES, "all do the same work"
            return SENTENCES

        return turn

    return Decoding(d_model, rates({system.name: translating(system) for system in translators}, at_least))


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Speed of training and decoding beside other libraries.")
    parser.add_argument("--widths", type=int, nargs="+", default=WIDTHS, help="d_model")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long each width is timed, at least")
    parser.add_argument(
        "--corpus", type=Path, help="a Parquet file of verses (experiments/verses): what padding wastes"
    )
    parser.add_argument("--output", type=Path, help="where the page is written, besides being printed")
    chosen = parser.parse_args(None if arguments is None else list(arguments))
    torch.set_num_threads(1)
    text = page(
        [train(width, chosen.systems, chosen.seconds) for width in sorted(chosen.widths)],
        [decode(width, chosen.systems, chosen.seconds / 2) for width in sorted(chosen.widths)],
        [] if chosen.corpus is None else wasted_shares(chosen.corpus),
        {package for module in chosen.systems for package in load(module, sizes_of(64)).packages},
    )
    print(text)
    if chosen.output:
        chosen.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
