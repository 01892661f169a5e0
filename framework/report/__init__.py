"""Journals → statistics → a table: what the trials of an experiment say, and how surely."""

from __future__ import annotations

from framework.report.render import Format, render
from framework.report.table import Report

__all__ = ["Format", "Report", "render"]
