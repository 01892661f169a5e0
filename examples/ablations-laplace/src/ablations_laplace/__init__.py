"""Plugins for transformer-ablations, one a module: every module in this package is searched for hooks."""
