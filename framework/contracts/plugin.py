"""What every plugin has: a name, options, and a docstring that says where it comes from."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

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

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        """Give options, each as an experiment would write them, that the test kit tries the plugin with.

        One for each way that it computes; the defaults alone, unless it says otherwise. A plugin that reads files
        may write them into `folder`, which is empty and which relative paths start from.
        """
        return ({},)


class ModulePlugin(Plugin, nn.Module):
    """A plugin that is a part of the model.

    A module that owns parameters or buffers directly must fill them in a method `reset_parameters()`, as
    torch's own layers do: the framework calls it once per module with a generator of its own, seeded by
    (seed, module name), so that rows of a table start from the same weights wherever they share a module.
    """
