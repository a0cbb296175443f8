"""Calls that run or unpack what a file holds: SECURITY.md says that there are none."""

import re

from running import PROJECT

UNSAFE = {
    "pickles": r"\bpickle\.(?:dump|load)|torch\.save\(|allow_pickle=True|joblib",
    "tensors that run code": r"torch\.load\((?![^)]*weights_only=True)",
    "code of models": r"trust_remote_code",
    "texts as code": r"(?<![\w.])(?:eval|exec)\(|yaml\.(?:unsafe_|full_)?load\(",
    "shells": r"shell=True|os\.(?:system|popen)\(",
    "archives": r"\.extractall\(|unpack_archive\(",
}


def test_no_file_is_run_unpickled_or_unpacked():
    places = ("scripts/**/*.py", "extensions/*/verified_*/**/*.py", "extensions/*/scripts/**/*.py")
    files = [path for place in places for path in PROJECT.glob(place)]
    assert len(files) > 300
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    found = [(path.name, kind) for path, text in texts.items() for kind in UNSAFE if re.search(UNSAFE[kind], text)]
    assert not found
    each = "yaml.load(x); torch.save(x); os.system(x); a.extractall(); trust_remote_code; torch.load(x)"
    assert all(re.search(pattern, each) for pattern in UNSAFE.values())
