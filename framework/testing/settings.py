"""What is true of every plugin's options, and of what it says of itself, whatever its kind."""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ValidationError

from framework.contracts import Plugin
from framework.errors import PluginError
from framework.registry import Registry
from framework.spec import Options
from framework.testing.property import Property
from framework.testing.subject import Subject

_WORDS: Final = 4
"""Fewer in a first line say neither what a plugin is nor where it comes from."""
_UNKNOWN: Final = {"no_such_option": 1}


@dataclass(frozen=True)
class PluginSubject(Subject):
    """A plugin with whichever options."""

    tried_on: ClassVar[str] = "its own samples of options"

    summary: str
    """What `ablate plugins list` says of it."""
    registry: Registry
    folder: Path


def docstring(subject: PluginSubject) -> None:
    """The first line of the docstring, the class's or the file's, says what it is and where it comes from."""
    if len(subject.summary.split()) < _WORDS:
        raise PluginError(
            f"the docstring begins with {subject.summary!r}, and its first line must say what the plugin is and where "
            "it comes from: authors, year, arXiv number, section"
        )


def samples(subject: PluginSubject) -> None:
    """`samples` gives at least one mapping of options, and `Options` takes each."""
    found = [dict(written) for written in subject.plugin.samples(subject.folder)]
    if not found:
        raise PluginError("samples gives no options, so that nothing can be tried: give {} for the defaults alone")
    for written in found:
        try:
            validated(subject.plugin, written, subject.registry)
        except ValidationError as error:
            wrong = error.errors()[0]
            at = ".".join(map(str, wrong["loc"])) or "options"
            raise PluginError(
                f"samples gives {in_words(written) or 'the defaults'}, which Options refuses at {at} ({wrong['msg']}): "
                "override samples, so that each mapping can stand in an experiment"
            ) from error


def unknown_option(subject: PluginSubject) -> None:
    """An option that there is not is refused, inside of options too."""
    for written in subject.plugin.samples(subject.folder):
        try:
            validated(subject.plugin, {**written, **_UNKNOWN}, subject.registry)
        except ValidationError:
            continue
        raise PluginError(
            f"Options takes {in_words(_UNKNOWN)}, which it does not have: a misspelt option would pass unseen; derive "
            'Options from fw.Options, and leave extra="forbid" as it is'
        )
    for model in _models(subject.plugin.Options):
        if model.model_config.get("extra") != "forbid":
            raise PluginError(
                f"{model.__name__}, inside of the options, takes keys that there are not: derive it from fw.Options too"
            )


def options_in_json(subject: PluginSubject) -> None:
    """Options written as JSON, into a trial's folder, are read back equal."""
    for written in subject.plugin.samples(subject.folder):
        options = validated(subject.plugin, written, subject.registry)
        text = options.model_dump_json()
        again = subject.plugin.Options.model_validate_json(text, context={"catalog": subject.registry})
        if again != options:
            raise PluginError(
                f"options {text} are read back as {again.model_dump_json()}: a trial would run with others than were "
                "asked for; let validators leave alone what they gave"
            )


def validated(plugin: type[Plugin], written: Mapping[str, Any], registry: Registry) -> Options:
    """Validate options as an experiment's. Raises Pydantic's `ValidationError`."""
    return plugin.Options.model_validate_json(json.dumps(dict(written)), context={"catalog": registry})


def in_words(written: Mapping[str, Any]) -> str:
    """Say options as `scale=0.5, learned=no`."""
    return ", ".join(
        f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in written.items()
    )


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The models inside of a model's fields, at any depth."""
    for field in model.model_fields.values():
        for annotation in _parts(field.annotation):
            if isinstance(annotation, type) and issubclass(annotation, BaseModel):
                yield annotation
                yield from _models(annotation)


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for argument in typing.get_args(annotation):
        yield from _parts(argument)


PROPERTIES: Final = (
    Property(docstring),
    Property(samples, founding=True),
    Property(unknown_option),
    Property(options_in_json),
)
