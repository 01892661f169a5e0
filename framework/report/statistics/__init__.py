"""What a few seeds can and cannot say. Pure functions of numbers, one step per module:

sample ─► design ─► additive ─► scatter ─► critical ─► comparison ─► verdict
"""

from __future__ import annotations

from framework.report.statistics.comparison import POWER, Comparison, Difference, compare, detectable_differences
from framework.report.statistics.sample import FEWEST, Estimate, estimate, finite
from framework.report.statistics.scatter import Scatter
from framework.report.statistics.verdict import Verdict, judge, relative

__all__ = [
    "FEWEST",
    "POWER",
    "Comparison",
    "Difference",
    "Estimate",
    "Scatter",
    "Verdict",
    "compare",
    "detectable_differences",
    "estimate",
    "finite",
    "judge",
    "relative",
]
