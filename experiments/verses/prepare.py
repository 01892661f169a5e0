"""Build `verses.en-es.parquet`, 31,077 aligned English and Spanish verses, from two Debian packages.

    apt-get install sword-text-web sword-text-sparv libsword-utils
    python experiments/verses/prepare.py

Both texts, the World English Bible and the Reina-Valera of 1909, are in the public domain. Nothing is downloaded
here; the table is written beside this file and stays out of the repository.
"""

from __future__ import annotations

import hashlib
import html
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import polars as pl

MODULES = {"en": ("engWEB2015eb", "sword-text-web"), "es": ("spaRV1909eb", "sword-text-sparv")}
"""Language → SWORD module, and the Debian package that holds it."""

OUTPUT = Path(__file__).with_name("verses.en-es.parquet")

# Headings and introductions stand at chapter 0 or verse 0.
VERSE = re.compile(r"\$\$\$(.+ [1-9]\d*:[1-9]\d*)")
APPARATUS = re.compile(r"<(note|title)\b.*?</\1>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
# Tags may stand between words without a space, and between a word and its punctuation: each becomes a space, and
# punctuation is put back. A closing quote is also an apostrophe, so it is put back only at the end of a word.
BEFORE = re.compile(r" ([,.;:!?]|[”’)](?=[ ,.;:!?]|$))")
AFTER = re.compile(r"([“‘¿¡(]) ")


def clean(markup: str) -> str:
    """Give a verse's text without notes and titles, mark-up removed, in NFC, white space folded."""
    text = html.unescape(TAG.sub(" ", APPARATUS.sub("", markup)))
    text = " ".join(unicodedata.normalize("NFC", text).split())
    return AFTER.sub(r"\1", BEFORE.sub(r"\1", text))


def verses(dump: str) -> dict[str, str]:
    """Give reference → text, in order, of what `mod2imp` prints; verses without text are left out."""
    found: dict[str, str] = {}
    for entry in re.split(r"^(?=\$\$\$)", dump, flags=re.MULTILINE):
        reference, _, markup = entry.partition("\n")
        if (verse := VERSE.fullmatch(reference)) and (text := clean(markup)):
            found[verse[1]] = text
    return found


def split_of(reference: str) -> str:
    """Give the split of a verse: one in 32 each for dev and test, by hash, whatever else is in the table."""
    return {0: "dev", 1: "test"}.get(hashlib.sha256(reference.encode()).digest()[-1] % 32, "train")


def align(english: dict[str, str], spanish: dict[str, str]) -> pl.DataFrame:
    """Give the verses that both languages have, in the order of the English."""
    references = [reference for reference in english if reference in spanish]
    return pl.DataFrame(
        {
            "reference": references,
            "en": [english[reference] for reference in references],
            "es": [spanish[reference] for reference in references],
            "split": [split_of(reference) for reference in references],
        }
    )


def dump(module: str, package: str) -> str:
    """Give a module's text as `mod2imp` prints it; leaves with exit code 2 if it is not installed."""
    install = f"install it with: apt-get install {package} libsword-utils"
    try:
        printed = subprocess.run(["mod2imp", module], capture_output=True, check=False)
    except FileNotFoundError:
        print(f"mod2imp is not installed; {install}", file=sys.stderr)
        raise SystemExit(2) from None
    if printed.returncode != 0 or not printed.stdout:
        print(f"the SWORD module {module} is not installed; {install}", file=sys.stderr)
        raise SystemExit(2)
    return printed.stdout.decode("utf-8")


def main() -> None:
    table = align(*(verses(dump(*MODULES[language])) for language in ("en", "es")))
    table.write_parquet(OUTPUT)
    sizes = ", ".join(f"{name} {size}" for name, size in table["split"].value_counts(sort=True).iter_rows())
    print(f"{OUTPUT}: {len(table)} pairs ({sizes})")


if __name__ == "__main__":
    main()
