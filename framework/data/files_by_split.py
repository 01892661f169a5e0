"""How an experiment names the files of a corpus."""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import model_validator

from framework.spec import Options

Files = TypeVar("Files")


class FilesBySplit(Options, Generic[Files]):
    """Where a corpus lies: one table for all splits, or `Files` for each; the options of a corpus that reads files."""

    path: str | None = None
    """One table with all splits, named in its column `split_column`."""
    split_column: str = "split"
    train: Files | None = None
    dev: Files | None = None
    test: Files | None = None

    @model_validator(mode="after")
    def _one_form(self) -> FilesBySplit[Files]:
        given = self.by_split()
        if self.path is not None and given:
            raise ValueError("give either path, one table with all splits, or files for train, dev and test")
        missing = [name for name in ("train", "dev") if name not in given]
        if self.path is None and missing:
            raise ValueError(
                f"there are no files for {' and '.join(missing)}: "
                "give path, one table with all splits, or files for train, dev and perhaps test"
            )
        return self

    def by_split(self) -> dict[str, Files]:
        """Give the splits that have files of their own."""
        named = {"train": self.train, "dev": self.dev, "test": self.test}
        return {name: files for name, files in named.items() if files is not None}
