"""Keep the finished trials of a home in the record, and write the page anew."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import framework as fw
from docs.results.table3_small.page import PAGE, write
from docs.results.table3_small.record import RECORD, finished, keep
from docs.results.table3_small.results import SMALL


def main(arguments: Sequence[str] | None = None, record: Path = RECORD, page: Path = PAGE) -> None:
    """Run the command; without arguments, with those it was called with."""
    parser = argparse.ArgumentParser(prog="python -m docs.results.table3_small", description=__doc__)
    parser.add_argument("--from", dest="home", type=Path, required=True, help="the home whose trials are to be kept")
    home = parser.parse_args(arguments).home
    experiment = fw.load(SMALL)
    try:
        found = finished(home, experiment.plan(), experiment.registry)
        for trial in found.values():
            keep(trial, home, record)
        write(record, page)
    except fw.SpecError as error:
        parser.error(str(error))
    print(f"{len(found)} of {len(experiment.plan())} trials are finished in {home}, and are in the record")


if __name__ == "__main__":
    main()
