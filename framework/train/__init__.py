"""HOW weights are found: Adam, its schedule, one update at a time, and checkpoints of all of it."""

from framework.train.checkpoint import load_weights, restore, save
from framework.train.errors import CheckpointUnreadable, Diverged
from framework.train.loop import Training
from framework.train.schedule import learning_rate

__all__ = ["CheckpointUnreadable", "Diverged", "Training", "learning_rate", "load_weights", "restore", "save"]
