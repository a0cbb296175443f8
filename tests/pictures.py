"""The pictures of README.md and docs/, made anew: `make pictures`.

Copies figures of the demo's report, and shoots pages of the demo, of the run of real clips, and of extensions'
`pictures_*.py` in a Chromium. Pictures have 256 colours, which keeps them small.
"""

import importlib
import sys
import tempfile
from pathlib import Path

from browser import Browser, browser
from PIL import Image, ImageChops

from verified.__main__ import main as command

ADDED = sorted(Path(__file__).parents[1].glob("extensions/*/tests/pictures_*.py"))
"""Modules with `take`, a function of the browser and the folder of results: (name, picture) of each of their pages; or
with `pages`, a function of the folder of results: pages for the sheet."""
FIGURES = ("pipeline", "predictions")
"""Figures of the run, which keep their names."""
WIDTH, HEIGHT, SMALL, COLUMNS = 1400, 1000, 560, 2
LOADED = "[...document.images].every((image) => image.complete || image.getBoundingClientRect().top > innerHeight)"


def shoot(chromium: Browser, page: Path, scheme: str = "light", width: int = WIDTH) -> Image.Image:
    chromium.scheme(scheme)
    chromium.call("Emulation.setDeviceMetricsOverride", width=width, height=HEIGHT, deviceScaleFactor=1, mobile=False)
    chromium.open(page)
    chromium.wait(LOADED)
    return Image.open(chromium.screenshot("picture", width, HEIGHT)).convert("RGB")


def save(picture: Image.Image, path: Path) -> None:
    # So that small dots keep their colours, and large areas theirs.
    few = picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    print(path)


def sheet(chromium: Browser, pages: list[Path]) -> Image.Image:
    """Pages small in rows of `COLUMNS`, every second one in the dark scheme."""
    tall = SMALL * HEIGHT // WIDTH
    rows = -(-len(pages) // COLUMNS)
    whole = Image.new("RGB", (COLUMNS * (SMALL + 12) + 12, rows * (tall + 12) + 12), "#808080")
    for number, page in enumerate(pages):
        picture = shoot(chromium, page.resolve(), ("light", "dark")[number % 2]).resize(
            (SMALL, tall), Image.Resampling.LANCZOS
        )
        whole.paste(picture, (12 + number % COLUMNS * (SMALL + 12), 12 + number // COLUMNS * (tall + 12)))
    return whole


def tables(chromium: Browser, folder: Path, names: tuple[str, ...]) -> Image.Image:
    """Pages of tables one below the other, without the empty paper around them."""
    pages = []
    for name in names:
        page = shoot(chromium, folder / f"{name}.html", width=1700)
        empty = Image.new("RGB", page.size, page.getpixel((page.width - 1, page.height - 1)))
        left, top, right, bottom = ImageChops.difference(page, empty).getbbox()
        pages.append(page.crop((max(0, left - 16), max(0, top - 16), right + 16, bottom + 16)))
    whole = Image.new("RGB", (max(page.width for page in pages), sum(page.height for page in pages)), "white")
    for number, page in enumerate(pages):
        whole.paste(page, (0, sum(before.height for before in pages[:number])))
    return whole


def main(results: Path, docs: Path) -> None:
    """Make the pictures of the finished runs in the folder `results` in the folder `docs`."""
    demo, real = results / "demo", results / "real"
    sys.path += [str(file.parent) for file in ADDED]
    added = [importlib.import_module(file.stem) for file in ADDED]
    command(["study", "--configfile", "config/real.yaml"])
    pages = [real / "report.html", demo / "tables" / "main-4.html", real / "report" / "captions.html"]
    pages += [page for module in added if hasattr(module, "pages") for page in module.pages(results)]
    pages += [real / "study" / "pages" / "participant-01.html", real / "tables" / "corpus-real.html"]
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder) / "browser") as chromium:
        save(sheet(chromium, pages), docs / "pages.png")
        for name in FIGURES:
            save(Image.open(demo / "figures" / f"{name}.png").convert("RGB"), docs / f"{name}.png")
        if (results / "released" / "tables").is_dir():  # its annotations are a download
            save(tables(chromium, results / "released" / "tables", ("main-1", "main-2")), docs / "reproduced.png")
        for module in added:
            if hasattr(module, "take"):
                for name, picture in module.take(chromium, results):
                    save(picture, docs / f"{name}.png")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
