"""Where keys of the section `field`, and of models that its rows ask, matter (see tests/config/test_every_key.py)."""

ADDRESS = "http://127.0.0.1:9/v1"
FIRST_STAGES = {"first_stages": ["xml"]}
BASES = {
    "rows without training": (
        "nano",
        {
            "export": {"forms": ["webdataset"]},
            "generation": {"embed": {}},
            "field": {"dense": True, "grounder": FIRST_STAGES, "reranker": FIRST_STAGES},
        },
        ("all", "export"),
        ("generation", "field"),
    ),
    "vectors of an endpoint": (
        "nano",
        {"generation": {"embed": {"engine": "openai", "base_url": ADDRESS}}, "field": {"dense": True}},
        ("all",),
        ("generation",),
    ),
}
NOT_WALKED = {}
