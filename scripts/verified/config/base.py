"""The strict base of all configuration models, and names in them that become folders below results/."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field


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


LONGEST = 100
"""Characters: names of files are joined from several such names, and file systems end at 255 bytes."""
PATTERN = rf"^[a-z0-9][a-z0-9-]{{0,{LONGEST - 1}}}$"

Line = Annotated[str, Field(pattern=r"^[^\r\n]*$", max_length=300)]
"""A title or a name of one line, as tables, pages and messages print it."""


def check_name(name: object, kind: str = "name") -> None:
    """Raise ValueError, as validators of configurations do, where `name` cannot be the name of a folder."""
    if not isinstance(name, str) or not re.fullmatch(PATTERN, name):
        text = str(name)
        excerpt = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
        raise ValueError(f"{kind} {excerpt!r} must be lower-case letters, digits and hyphens, {LONGEST} at most")
