"""HOW weights are found: Adam, its schedule, one update at a time, checkpoints of all of it, and means of weights."""

from framework.train.arithmetic import float32_products
from framework.train.checkpoint import restore, save
from framework.train.errors import CheckpointUnreadable, Diverged
from framework.train.loop import Training
from framework.train.schedule import learning_rate
from framework.train.snapshots import averaged_steps, load_mean, save_weights

__all__ = [
    "CheckpointUnreadable",
    "Diverged",
    "Training",
    "averaged_steps",
    "float32_products",
    "learning_rate",
    "load_mean",
    "restore",
    "save",
    "save_weights",
]
