"""Whether a plugin keeps its contract: plain functions, behind `ablate plugins check` and for authors' own tests."""

from framework.testing.cases import Case, cases

__all__ = ["Case", "cases"]
