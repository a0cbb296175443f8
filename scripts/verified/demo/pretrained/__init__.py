"""Pre-trained weights that replace ResNet-152's and UMT's on the demo.

Inside the working folder their paths are relative to it, so that a project can be moved together with its results. For
a run elsewhere they are absolute, so that such a run can be moved.
"""

from pathlib import Path

SHIPPED = Path(__file__).with_name("weights")


def shipped_backbone() -> str:
    """The folder of the image backbone."""
    return relative_name(SHIPPED / "image-backbone")


def shipped_evaluator() -> str:
    """The evaluator's checkpoint."""
    return relative_name(SHIPPED / "evaluator.safetensors")


def relative_name(path: Path) -> str:
    """A file's path relative to the working folder if it is inside it, else its absolute path."""
    path, folder = path.resolve(), Path.cwd().resolve()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)
