"""All pages of the essay, and how they are written. Run by `make docs`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from docs.essay import cost, dog_bites_man, kernel_regression, not_good, scale, sinusoids, two_tokens
from docs.essay.page import FOLDER, Page
from docs.essay.picture import svg
from framework.registry import Registry

PAGES: Final = (two_tokens, not_good, kernel_regression, scale, sinusoids, dog_bites_man, cost)


def pages(registry: Registry) -> tuple[Page, ...]:
    """Compute every page, the index first."""
    return (Page("README"), *(module.page(registry) for module in PAGES))


def write(folder: Path = FOLDER) -> None:
    """Write every page and picture into a folder."""
    for page in pages(Registry.load()):
        (folder / f"{page.name}.md").write_text(page.text, encoding="utf-8")
        for name, drawing in page.pictures.items():
            (folder / name).write_bytes(svg(drawing))
