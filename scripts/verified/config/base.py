"""The strict base of all configuration models."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A part of the configuration: unknown keys and wrong types are errors, values do not change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, strict=False)
