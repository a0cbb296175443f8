"""Vocabulary of the demo: the things in a scene, their colours and measures.

Lengths are in world units; the picture is `EXTENT` units wide and high, at any size in pixels.
"""

EXTENT = 112.0

SHAPES = ("ball", "box", "triangle", "star", "ring", "cross")

COLOURS = {
    "red": (220, 40, 40),
    "orange": (245, 140, 20),
    "yellow": (240, 220, 40),
    "green": (40, 170, 60),
    "blue": (40, 80, 220),
    "purple": (140, 50, 180),
    "pink": (250, 130, 190),
    "white": (245, 245, 245),
}

BACKGROUNDS = {
    "wall": (118, 124, 136),
    "sky": (18, 20, 44),
    "sand": (205, 175, 125),
    "field": (30, 75, 35),
    "bricks": (130, 70, 55),
    "water": (120, 185, 215),
}

HIDDEN = {("green", "field"), ("red", "bricks"), ("yellow", "sand")}
"""Pairs of colour and background that are too close to tell apart."""

RADII = {"small": (7.0, 9.0), "large": (15.0, 18.0)}
BYSTANDER_RADII = (9.0, 11.0)

TEXTURES = ("plain", "striped", "dotted")

SPEEDS = {"slow": (9.0, 13.0), "fast": (24.0, 32.0)}
"""World units per second."""

DIRECTIONS = {"left": (-1.0, 0.0), "right": (1.0, 0.0), "up": (0.0, -1.0), "down": (0.0, 1.0)}
TURNS = ("clockwise", "anticlockwise")

MOTIONS = ("moves", "meets", "grows", "shrinks", "bounces", "circles", "appears", "vanishes", "stays")
