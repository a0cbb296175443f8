"""Where keys of the section `pretrained` matter (see tests/config/test_every_key.py)."""

BASES = {"weights": ("pretrained", {}, ("pretrained",), ("name", "pretrained"))}
NOT_WALKED: dict[str, str] = {}
