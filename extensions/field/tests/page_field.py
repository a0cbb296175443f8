"""The page's configuration is that of the page on a corpus of one's own."""

from pages.material import Material

MATERIAL = Material(("kitchen",))
