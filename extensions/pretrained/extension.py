"""The small weights that come with the workflow, trained anew: a tool of maintainers."""

from verified.extension import Extension
from verified_pretrained.config import Pretrained

EXTENSION = Extension(
    name="pretrained",
    title="train the weights that come with the workflow",
    sections={"pretrained": Pretrained},
    is_on=lambda settings: settings.has(Pretrained),
)
