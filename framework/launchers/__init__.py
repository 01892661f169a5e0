"""Where trials run: processes of this machine, and the devices that they compute on."""

from framework.launchers.devices import devices_found, require_devices
from framework.launchers.local import LocalWorkers, available_cores
from framework.launchers.outcome import Outcome

__all__ = ["LocalWorkers", "Outcome", "available_cores", "devices_found", "require_devices"]
