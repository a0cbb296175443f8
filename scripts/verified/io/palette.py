"""Colours with one meaning on every page and in every figure; distinct for colour-blind readers, and of a contrast of 3
or more with white and with the dark ground of pages."""

import hashlib

STATICS, DYNAMICS, FALSE, SOFT = "#1b7837", "#2166ac", "#a50026", "#5a5a5a"
MODELS = {"HERO": "#b5578f", "XML": "#0072b2", "ReLoCLNet": "#00875f", "CONQUER": "#d05400", "SQuiDNet": "#8c6d1f"}
"""By a model's name in tables."""
TRAINED_ON = {"COG": "#737373", "FIG": "#0072b2", "FIG-lowest": "#c0392b", "FIG-highest": "#0072b2"}
"""By captions, for figures of one model."""
OTHERS = ("#6a51a3", "#3f8f29", "#a6611a", "#c51b7d", "#01665e", "#7570b3")


def colour_of(name: str) -> str:
    """The colour of a model or of training captions; an unknown name gets one derived from the name alone."""
    known = MODELS.get(name) or TRAINED_ON.get(name)
    return known or OTHERS[hashlib.sha256(name.encode()).digest()[0] % len(OTHERS)]
