"""Where the stand-ins lie that come with the workflow."""

import os
from pathlib import Path

SHIPPED = Path(__file__).with_name("weights")


def shipped_backbone() -> str:
    """The folder of the image backbone, seen from the working folder, so that a moved run stays what it is."""
    return os.path.relpath(SHIPPED / "image-backbone")


def shipped_evaluator() -> str:
    """The evaluator's checkpoint, likewise."""
    return os.path.relpath(SHIPPED / "evaluator.safetensors")
