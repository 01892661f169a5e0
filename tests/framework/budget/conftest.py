"""Folders as trials leave them, as the report's tests have them."""

from tests.framework.report.conftest import diverge, experiment, finish, plan, trial

__all__ = ["diverge", "experiment", "finish", "plan", "trial"]
