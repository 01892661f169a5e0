"""What a row costs: arithmetic and memory by counting, without data or weights; time by what was measured.

batch ─► count ─────────┐
probe ─► pace ──────────┴─► rows
"""

from framework.cost.batch import TypicalBatch, typical_batch
from framework.cost.count import Count
from framework.cost.duration import duration, seconds_of
from framework.cost.pace import Pace
from framework.cost.rows import RowCost, probe_rows, row_costs

__all__ = [
    "Count",
    "Pace",
    "RowCost",
    "TypicalBatch",
    "duration",
    "probe_rows",
    "row_costs",
    "seconds_of",
    "typical_batch",
]
