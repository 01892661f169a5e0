"""ALL trials of an experiment, driven by one coordinator; the only import of Optuna."""

from framework.study.coordinator import Progress, Summary, coordinate, tell_what_is_done
from framework.study.ownership import owned

__all__ = ["Progress", "Summary", "coordinate", "owned", "tell_what_is_done"]
