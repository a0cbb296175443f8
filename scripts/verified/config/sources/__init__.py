"""The kinds of sources: a new one is a file here with its properties, and its name in `Source`."""

from typing import Annotated, get_args

from pydantic import Field

from verified.config.sources.demo import DemoSource
from verified.config.sources.folder import FolderSource
from verified.config.sources.published import PublishedSource
from verified.config.sources.released import ReleasedSource
from verified.config.sources.section import SourceSection

__all__ = ["KINDS", "DemoSource", "FolderSource", "PublishedSource", "ReleasedSource", "Source", "SourceSection"]

Source = Annotated[DemoSource | FolderSource | PublishedSource | ReleasedSource, Field(discriminator="kind")]
KINDS = {kind.model_fields["kind"].annotation.__args__[0]: kind for kind in get_args(get_args(Source)[0])}
"""Every kind of source by its name."""
