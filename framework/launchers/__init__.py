"""Where trials run: processes of this machine."""

from framework.launchers.local import LocalWorkers
from framework.launchers.outcome import Outcome

__all__ = ["LocalWorkers", "Outcome"]
