"""The files of the page: queries with several moments or none."""

import shutil
from pathlib import Path

from pages.material import Material


def make(folder: Path) -> None:
    shutil.copytree(Path(__file__).parent / "fixtures", folder, dirs_exist_ok=True)


MATERIAL = Material(make=make)
