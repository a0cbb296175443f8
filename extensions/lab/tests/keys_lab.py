"""Where keys of the sections of the lab matter (see tests/config/test_every_key.py)."""

BASES = {
    "lab": (
        "nano",
        {
            "review": {},
            "audit": {},
            "filters": {"datasets": {"nano": {"transcripts": "speech", "min_speech": 0.1}}},
            "generation": {"speech": {"base_url": "http://127.0.0.1:9/v1"}},
        },
        ("all", "review", "audit"),
        ("review", "audit", "filters", "generation"),
    )
}
NOT_WALKED = {"review.decisions": "names files that must be there", "review.min_precision": "needs such files"}
