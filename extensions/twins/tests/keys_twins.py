"""Where the key of the section `twins` matters (see tests/config/test_every_key.py)."""

BASES = {"twins": ("nano", {"twins": {}}, ("results/tables",), ("twins",))}
NOT_WALKED: dict[str, str] = {}
