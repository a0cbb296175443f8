"""Where keys of the sections of the lab matter (see tests/config/test_every_key.py)."""

BASES = {
    "lab": (
        "nano",
        {"review": {}, "audit": {}, "meta_evaluation": {}},
        ("all", "review", "audit"),
        ("review", "audit", "meta_evaluation"),
    )
}
NOT_WALKED: dict[str, str] = {}
