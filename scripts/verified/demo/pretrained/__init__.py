"""Pre-trained weights that replace ResNet-152's and UMT's on the demo.

Inside the working folder their paths are relative to it, so that a project can be moved together with its results. For
a run elsewhere they are absolute, so that such a run can be moved.
"""

from pathlib import Path

from verified.runtime.project import near

SHIPPED = Path(__file__).resolve().with_name("weights")


def shipped_backbone() -> str:
    """The folder of the image backbone."""
    return str(near(SHIPPED / "image-backbone"))


def shipped_evaluator() -> str:
    """The evaluator's checkpoint."""
    return str(near(SHIPPED / "evaluator.safetensors"))
