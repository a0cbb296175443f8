"""Checks of every page: it fits three widths in two schemes, and the Tab key comes to all that can be used."""

from collections.abc import Callable

from browser import Browser

WIDTHS, SCHEMES = (360, 1400, 2500), ("light", "dark")
REACHABLE = """
[...document.querySelectorAll('a[href], button, input, select, textarea, summary, video[controls], [tabindex="0"]')]
  .filter((one) => !one.disabled && one.checkVisibility() && !one.closest('dialog') && one.tabIndex >= 0 &&
    !(one.type === 'radio' && [...document.getElementsByName(one.name)].indexOf(one) > 0)).length
"""
"""How many places of a page the Tab key should come to; of radio buttons, one of each group."""
FOCUS = """(() => {
  const one = document.activeElement;
  if (one === document.body || one === document.documentElement) return null;
  const looks = getComputedStyle(one);
  window.seen = window.seen || new Set();
  window.seen.add(one);
  const named = one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.length || one.title;
  const outlined = looks.outlineStyle !== 'none' || one.tagName === 'VIDEO';
  return { tag: one.tagName, id: one.id, seen: outlined, named: Boolean(named) };
})()"""


def resize(chromium: Browser, width: int) -> None:
    chromium.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)


def shoot_everywhere(chromium: Browser, name: str, show: Callable[[], None]) -> None:
    """Screenshots ``every-NAME-WIDTH-SCHEME`` of what `show` opens; nothing is wider than the window."""
    for scheme in SCHEMES:
        chromium.scheme(scheme)
        for width in WIDTHS:
            resize(chromium, width)
            show()
            chromium.screenshot(f"every-{name}-{width}-{scheme}", width, 1000)
            assert chromium.run("document.documentElement.scrollWidth") <= width, (width, scheme)
            light = chromium.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
            assert light == (scheme == "light")
    assert chromium.run("document.querySelectorAll('h1').length") == 1
    assert chromium.messages == []


def walk_by_tab(chromium: Browser) -> None:
    """The Tab key comes to everything that can be used, and whoever looks or listens knows where the focus is."""
    wanted = chromium.run(REACHABLE)
    chromium.run("document.activeElement.blur()")
    # Twice what a quiet machine needs, and again: a headless browser misses a key now and then.
    for _ in range(6 * wanted + 20):
        chromium.press("Tab", 9)
        focus = chromium.run(FOCUS)
        if focus is None and chromium.run("(window.seen || new Set()).size") >= wanted:
            break
        assert focus is None or (focus["seen"] and focus["named"]), focus
    assert chromium.run("(window.seen || new Set()).size") >= wanted
