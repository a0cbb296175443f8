"""Pass values from the configuration to a job: those that affect an output as params, the others by the environment.

A rule passes `deciding(section)` as a param, so that Snakemake runs its jobs again when one of these values changes;
the script makes a typed section of it with `received`. Fields that change no byte of an output are marked `Operational`
where they are declared. `announce_operational` hands them to all jobs of a run at once.
"""

import json
import os
from collections.abc import Collection, Mapping
from inspect import isclass
from typing import Any, TypeVar

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from verified.config import config_model
from verified.config.base import Operational, Section
from verified.config.model import Config, section_key
from verified.io.jsonl import is_object

VARIABLE = "VERIFIED_OPERATIONAL"
"""Environment variable: JSON, the operational values of the configuration."""

Kind = TypeVar("Kind", bound=Section)


def deciding(section: Section, fields: Collection[str] | None = None) -> dict[str, Any]:
    """Plain values of all fields of a section, or of those named, that may change an output.

    Mappings are in the order of their keys, because Snakemake compares params as it would print them.
    """
    values = _deciding(section, section.model_dump(mode="json"))
    return values if fields is None else {name: values[name] for name in sorted(fields)}


def announce_operational(settings: Config) -> None:
    """Pass the operational values of a configuration to all processes that this one starts."""
    os.environ[VARIABLE] = json.dumps(_operational(settings, settings.model_dump(mode="json")))


def received(kind: type[Kind], values: Mapping[str, Any]) -> Kind:
    """The section that `deciding` serialised, with its operational fields.

    A field that the rule did not pass is absent, also in a section below: reading it raises AttributeError, so that no
    script depends on a value whose change Snakemake would not see.
    """
    return _received(kind, values, json.loads(os.environ[VARIABLE]).get(section_key(config_model(), kind), {}))


def _received(kind: type[Kind], values: Mapping[str, Any], announced: Mapping[str, Any]) -> Kind:
    fields = kind.model_fields
    parts = {
        name: _typed(field.annotation, values.get(name), announced.get(name))
        for name, field in fields.items()
        if name in values or (name in announced and is_operational(field))
    }
    part = kind.model_construct(**parts)
    for name in fields.keys() - parts.keys():
        vars(part).pop(name, None)
    return part


def _typed(kind: Any, passed: Any, announced: Any) -> Any:
    if isclass(kind) and issubclass(kind, Section) and is_object(passed):
        return _received(kind, passed, announced or {})
    return TypeAdapter(kind).validate_python(_merged(announced, passed))


def is_operational(field: FieldInfo) -> bool:
    """Whether a field changes no byte of any output."""
    return any(isinstance(mark, Operational) for mark in field.metadata)


def _deciding(value: Any, plain: Any) -> Any:
    """The part of `plain`, the dump of `value`, that is not operational."""
    if isinstance(value, Section):
        fields = type(value).model_fields
        names = [name for name in fields if name in plain and not is_operational(fields[name])]
        return {name: _deciding(getattr(value, name), plain[name]) for name in names}
    if is_object(value):
        return {key: _deciding(value[key], plain[key]) for key in sorted(value)}
    return plain


def _operational(section: Section, plain: Mapping[str, Any]) -> dict[str, Any]:
    """The operational values of a section and of the sections below it, by name."""
    values: dict[str, Any] = {}
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if is_operational(field):
            values[name] = plain[name]
        elif isinstance(value, Section) and (below := _operational(value, plain[name])):
            values[name] = below
    return values


def _merged(announced: Any, passed: Any) -> Any:
    """Merge two trees of values; those of `passed` win."""
    if is_object(announced) and is_object(passed):
        return {**announced, **{key: _merged(announced.get(key), value) for key, value in passed.items()}}
    return announced if passed is None else passed
