"""The strict base of all configuration models."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A part of the configuration: unknown keys and wrong types are errors, values do not change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, strict=False)


@dataclass(frozen=True)
class Operational:
    """Marks a field that changes no byte of any output, so that a change re-runs no job."""

    reason: str
    """Why it changes no output."""
