"""The page of Table 3 on a small scale: docs/results/table3-small.md, from the trials recorded beside it."""
