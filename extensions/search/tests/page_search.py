"""The page's demo and folder of clips."""

from pages.material import Material, holiday

MATERIAL = Material(("demo",), holiday)
