"""Values that remember where they were written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from framework.errors import Place, Problem

Scalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Located:
    """A value of a YAML document: a scalar, a list or a mapping of located values."""

    value: Scalar | list[Located] | dict[str, Located]
    place: Place
    """Of the key for a mapping's entry, of the value elsewhere."""
    path: str
    """Dotted keys as the person wrote them."""

    @property
    def mapping(self) -> dict[str, Located]:
        """The entries, none where the value is no mapping."""
        return self.value if isinstance(self.value, dict) else {}

    def child(self, key: str | int) -> Located | None:
        """The entry of a mapping or of a list, or None."""
        if isinstance(self.value, dict):
            return self.value.get(str(key))
        if isinstance(self.value, list) and isinstance(key, int) and 0 <= key < len(self.value):
            return self.value[key]
        return None

    def with_entry(self, key: str, entry: Located) -> Located:
        """A copy in which the mapping has this entry."""
        return replace(self, value={**self.mapping, key: entry})

    def moved(self, place: Place) -> Located:
        """A copy in which everything stands at one place."""
        value = self.value
        if isinstance(value, dict):
            value = {key: entry.moved(place) for key, entry in value.items()}
        elif isinstance(value, list):
            value = [entry.moved(place) for entry in value]
        return replace(self, value=value, place=place)

    def plain(self) -> object:
        """The value without places."""
        if isinstance(self.value, dict):
            return {key: entry.plain() for key, entry in self.value.items()}
        if isinstance(self.value, list):
            return [entry.plain() for entry in self.value]
        return self.value

    def follow(self, keys: tuple[str | int, ...]) -> tuple[Located, tuple[str | int, ...]]:
        """Go down as far as there are entries: the last one reached, and the keys left over."""
        node = self
        for index, key in enumerate(keys):
            child = node.child(key)
            if child is None:
                return node, keys[index:]
            node = child
        return node, ()

    def problem(self, message: str) -> Problem:
        return Problem(message, self.path, self.place)


def joined(path: str, *keys: str | int) -> str:
    """A dotted path, list positions in brackets."""
    for key in keys:
        path += f"[{key}]" if isinstance(key, int) else f".{key}" if path else key
    return path
