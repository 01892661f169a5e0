"""Addresses as they may be shown and logged."""

from __future__ import annotations

from urllib.parse import urlsplit


def without_password(address: str) -> str:
    """An address with stars in place of its password, if it has one."""
    password = urlsplit(address).password
    return address.replace(f":{password}@", ":***@") if password else address
