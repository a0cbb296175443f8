"""The lint's rules on captions as data for the review pages, so that their only source is `annotations.lint`."""

import re
from collections.abc import Mapping

from verified.annotations.lint import TEXT_RULES
from verified.config.annotations import Lint

WORD, DIGIT = r"\p{L}\p{N}_", r"\p{Nd}"
EDGE = rf"(?:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))"
SPOKEN = {"w": f"[{WORD}]", "d": DIGIT, "b": EDGE}
IN_CLASS = {"w": WORD, "d": DIGIT}


def text_rules(severities: Lint | Mapping) -> list[dict]:
    """``check, severity, about, pattern, flags, coarse_may`` of each rule that is not off, for `new RegExp`."""
    lint = Lint(**dict(severities))
    return [
        {
            "check": rule.check,
            "severity": getattr(lint, rule.check),
            "about": Lint.model_fields[rule.check].description or rule.check,
            "pattern": javascript(rule.pattern),
            "flags": "giu" if rule.pattern.flags & re.IGNORECASE else "gu",
            "coarse_may": rule.coarse_may,
        }
        for rule in TEXT_RULES
        if getattr(lint, rule.check) != "off"
    ]


def javascript(pattern: re.Pattern[str]) -> str:
    """The source of a pattern for JavaScript with the flag u, whose \\w, \\d and \\b know ASCII only.

    Raises ValueError for a Python escape without a translation here.
    """
    out, in_class, source = [], False, iter(pattern.pattern)
    for character in source:
        if character != "\\":
            in_class = character == "[" or (in_class and character != "]")
            out.append(character)
            continue
        escaped = next(source)
        spoken = IN_CLASS if in_class else SPOKEN
        if escaped in "WDBSAZ" and not (escaped == "S" and not in_class):
            raise ValueError(f"{pattern.pattern!r}: \\{escaped} has no translation")
        out.append(spoken.get(escaped, f"\\{escaped}"))
    return "".join(out)
