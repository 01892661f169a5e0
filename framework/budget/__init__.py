"""What fits into a length of time: how many seeds of every row, for how many steps, and what these could detect."""

from framework.budget.designs import Budget, Design, Row, budget_of, propose
from framework.budget.scatter import Scatter, scatter_so_far
from framework.budget.words import budget_text

__all__ = ["Budget", "Design", "Row", "Scatter", "budget_of", "budget_text", "propose", "scatter_so_far"]
