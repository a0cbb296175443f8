"""Where the keys of the section `clock` matter (see tests/config/test_every_key.py)."""

BASES = {"clock": ("nano", {"clock": {}}, ("results/nano/clock/video_lmm.json",), ("clock",))}
NOT_WALKED: dict[str, str] = {}
