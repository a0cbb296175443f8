"""Where the keys of the section `sentinels` matter (see tests/config/test_every_key.py)."""

BASES = {"sentinels": ("nano", {"sentinels": {"parts": 1}}, ("results/nano/sentinels/measures.json",), ("sentinels",))}
NOT_WALKED: dict[str, str] = {}
