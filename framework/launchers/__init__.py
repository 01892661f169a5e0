"""Where trials run: processes of this machine."""

from framework.launchers.local import LocalWorkers, available_cores
from framework.launchers.outcome import Outcome

__all__ = ["LocalWorkers", "Outcome", "available_cores"]
