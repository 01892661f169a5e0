"""What every plugin has: a name, options, and a docstring that says where it comes from."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from torch import nn

from framework import spec


class Plugin(ABC):
    """The base of every kind of plugin.

    A plugin file holds one class and one hook that returns it. The class's docstring starts with a line
    that says what the plugin is and where it comes from: `ablate plugins list` shows that line.
    """

    name: ClassVar[str]
    """As an experiment writes it; by convention the file's name."""

    Options: ClassVar[type[spec.Options]] = spec.Options
    """The class of its settings: none, unless a plugin nests a class of that name."""

    options: spec.Options


class ModulePlugin(Plugin, nn.Module):
    """A plugin that is a part of the model.

    A module that owns parameters or buffers directly must fill them in a method `reset_parameters()`, as
    torch's own layers do: the framework calls it once per module with a generator of its own, seeded by
    (seed, module name), so that rows of a table start from the same weights wherever they share a module.
    """
