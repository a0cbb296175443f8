"""The strict base of all configuration models."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A part of the configuration: unknown keys and wrong types are errors, values do not change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, strict=False)
    brings_data: ClassVar[bool] = False
    """Whether a configuration with this section of an extension needs no data sets."""
    initial: ClassVar[Mapping[str, Any]] = {}
    """Values of this section of an extension that `verified init` writes for a folder of videos."""


@dataclass(frozen=True)
class Operational:
    """Marks a field that changes no byte of any output, so that a change re-runs no job."""

    reason: str
    """Why it changes no output."""
