"""Where keys of the section `rextime` matter (see tests/config/test_every_key.py)."""

BASES = {
    "questions": (
        "rextime",
        {
            "generation": {"video_lmm": {"engine": "transformers", "model": "organisation/model"}},
            "rextime": {"models": ["video_lmm", "fine_tuned_video_lmm", "retrieval", "fine_tuned_retrieval"]},
        },
        ("all", "results/rextime/rextime/export/hugging-face"),
        ("rextime",),
    )
}
NOT_WALKED = {
    "rextime.sources.*": "name files, or another data set",
    "rextime.released": "names files that must be there",
    "rextime.submissions": "names files that must be there",
    "rextime.published": "names files that must be there",
}
