"""Where keys of the section `search` matter (see tests/config/test_every_key.py)."""

BASES = {
    "index": ("nano", {"retrieval": {"models": ["xml"]}, "search": {}}, ("results/nano/search/xml.json",), ("search",))
}
NOT_WALKED = {"search.captions": "of an index of joint alone"}
