"""Where keys of the section `longform` matter (see tests/config/test_every_key.py)."""

HUB = "organisation/model"
BASES = {
    "movies": ("longform-demo", {}, ("all",), ("longform",)),
    "movies by a model of the hub": (
        "longform-demo",
        {"longform": {"encoder": HUB, "models": ["zero-shot"]}},
        ("all",),
        ("longform",),
    ),
}
NOT_WALKED = {
    "longform.mixture_test": "needs a second data set of movies",
    "longform.vlg_net.warm_start": "names a file that must be there",
    "longform.published_dir": "of published collections, whose files must be there",
    "longform.statistics": "of published collections",
}
