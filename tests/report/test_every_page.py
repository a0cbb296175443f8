"""Every page at three widths and in both schemes, by keyboard alone, and as axe-core (npm) judges it.

Screenshots stay where `make test-browser` says. Served pages and that of a run at work are walked through in the same
way where they are tested.
"""

import gallery
import pytest
from browser import browser
from every_reader import SCHEMES, resize, shoot_everywhere, walk_by_tab

pytestmark = pytest.mark.slow

NAMES = gallery.NAMES


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return gallery.build(tmp_path_factory.mktemp("gallery"))


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("browser")) as one:
        yield one


@pytest.mark.parametrize("name", NAMES)
def test_a_page_fits_every_width_in_either_scheme(pages, chromium, name):
    shoot_everywhere(chromium, name, lambda: chromium.open(pages[name]))
    assert chromium.run("document.querySelectorAll('main b:not(.facts b)').length") == 0, "captions are text"


@pytest.mark.parametrize("name", NAMES)
def test_the_tab_key_comes_to_everything_that_can_be_used_and_the_focus_is_seen(pages, chromium, name):
    resize(chromium, 1400)
    chromium.open(pages[name])
    walk_by_tab(chromium)


@pytest.mark.parametrize("name", NAMES)
def test_on_paper_a_page_is_white_and_keeps_its_headings_and_candidates(pages, chromium, name):
    resize(chromium, 794)
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    chromium.call("Emulation.setEmulatedMedia", media="print", features=dark)
    try:
        chromium.open(pages[name])
        assert chromium.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        for texts in ("th", "#candidates li"):
            gone = "filter((one) => one.textContent.trim() && !one.innerText.trim()).length"
            assert chromium.run(f"[...document.querySelectorAll('{texts}')].{gone}") == 0
        shown = (
            "[...document.querySelectorAll('video, .filters, .pager')].filter((one) => one.checkVisibility()).length"
        )
        assert chromium.run(shown) == 0
        assert chromium.run("document.documentElement.scrollWidth") <= 794
    finally:
        chromium.call("Emulation.setEmulatedMedia", media="", features=dark)


def test_captions_are_browsed_by_letters(pages, chromium):
    chromium.open(pages["captions"])
    chromium.wait("document.querySelectorAll('article').length === 20")
    place = "document.activeElement.querySelector('h2')?.textContent"
    chromium.insist(lambda: chromium.press("j", 74, "j"), f"{place} === 'Moment 0'", once=True)
    chromium.press("j", 74, "j")
    chromium.wait(f"{place} === 'Moment 1'")
    chromium.press("n", 78, "n")
    chromium.wait("document.getElementById('place').textContent === '21–24 of 24 moments'")
    chromium.press("/", 191, "/")
    chromium.wait("document.activeElement.id === 'query'")
    chromium.type("nothing like it")
    chromium.wait("document.querySelector('.empty') !== null")


def test_a_table_is_sorted_and_copied(pages, chromium):
    chromium.open(pages["table"])
    column = "[...document.querySelectorAll('tbody tr')].map((row) => row.cells[{}].firstChild.textContent)"
    click = "document.querySelectorAll('th button')[{}].click()"
    chromium.run(click.format(2))
    values = [float(text.rstrip("¹")) for text in chromium.run(column.format(2))]
    assert values == sorted(values, reverse=True) and len(values) == 5
    chromium.run(click.format(2))
    assert [float(text.rstrip("¹")) for text in chromium.run(column.format(2))] == sorted(values)
    assert chromium.run("document.querySelectorAll('th')[2].getAttribute('aria-sort')") == "ascending"
    chromium.run(click.format(1))
    assert chromium.run(column.format(1)) == sorted(gallery.MODELS, reverse=True, key=str.lower)
    text = chromium.run("asCsv(document.querySelector('table'))").splitlines()
    assert text[0].startswith("Data set,Method,VCMR 0.5/r1") and len(text) == 6
    assert text[1].startswith("Kitchen <FIG>,XML,") and " [" in text[1] and text[1].endswith("–")
    tex = chromium.run("asLatex(document.querySelector('table'))")
    assert tex.startswith("\\begin{tabular}{llrrrrrr") and "$^1$" in tex and tex.count(" \\\\") == 6


@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_nothing_serious(pages, chromium, name):
    resize(chromium, 1400)
    for scheme in SCHEMES:
        chromium.scheme(scheme)
        chromium.open(pages[name])
        chromium.run("for (const one of document.querySelectorAll('details')) one.open = true")
        assert chromium.violations() == []
