"""Secrets appear neither in a configuration nor in messages about one."""

import base64
import codecs
import subprocess
import sys

import pytest
from refusals import refused
from running import PROJECT

from verified.config import load
from verified.runtime.job import log_to
from verified.runtime.secrets import MASK, keep_secret, redact

SECRET = "hunter2-canary-99"
DATA = {"datasets": {"demo": {"title": "D", "source": {"kind": "demo"}}}}


@pytest.mark.parametrize(
    "address",
    [
        f"https://lab:{SECRET}@models.example/v1",
        f"https://{SECRET}@models.example/v1",
        f"https://models.example/v1?key={SECRET}",
    ],
)
def test_an_address_with_a_secret_is_refused_and_not_repeated(address):
    role = {"engine": "openai", "model": "m", "base_url": address}
    with refused("password", "api_key_variable") as error:
        load({**DATA, "generation": {"llm": role}})
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    "place, value",
    [
        ("api_key", "4f9a-2b1c"),
        ("api_key", "sk-proj-Canary99abcdef"),
        ("api_key_variable", "sk-proj-Canary99abcdef"),
        ("api_key_variable", "c4n4ry99aabbccddeeff00112233"),
        ("base_url", "gsk_Canary99abcdefghij"),
        ("base_url", "https://models.example/sk-proj-Canary99abcdef/v1"),
        ("model", "c4n4ry-of-a-lab"),
        ("sk-proj-Canary99abcdef", "m"),
        ("chat_template_kwargs", {"access_token": "hunter2x"}),
    ],
)
def test_a_key_in_a_configuration_is_refused_and_not_repeated(place, value, monkeypatch):
    monkeypatch.setenv("LAB_API_KEY", "c4n4ry-of-a-lab")
    with refused("generation.llm", "api_key_variable") as error:
        load({**DATA, "generation": {"llm": {"engine": "openai", "model": "m", place: value}}})
    for secret in ("anary99", "c4n4ry", "4f9a", "hunter2"):
        assert secret not in str(error.value)


def test_names_of_variables_and_words_are_no_keys():
    role = {"engine": "openai", "model": "sk-learn", "api_key_variable": "OPENAI_API_KEY_OF_LAB_2"}
    settings = load({**DATA, "generation": {"llm": role}})
    assert settings.generation.llm.api_key_variable == "OPENAI_API_KEY_OF_LAB_2"


def test_a_registered_secret_is_masked_in_text_log_and_traceback(tmp_path, capsys):
    keep_secret("a+b/" + SECRET)
    assert redact(f"x a+b/{SECRET} a%2Bb%2F{SECRET} y") == f"x {MASK} {MASK} y"
    logger = log_to(str(tmp_path / "log"))
    try:
        raise ValueError(f"it was a+b/{SECRET}")
    except ValueError:
        logger.exception("with a+b/%s", SECRET)
    text = (tmp_path / "log").read_text() + capsys.readouterr().err
    assert "ValueError" in text and MASK in text and SECRET not in text


def test_a_crash_prints_no_secret():
    code = f"from verified.runtime.secrets import keep_secret; keep_secret({SECRET!r}); raise ValueError({SECRET!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PROJECT / "scripts")
    assert done.returncode == 1 and "ValueError" in done.stderr and SECRET not in done.stderr.split("\n", 1)[1]


KEY = "sk-Proj/4fQ9+zTb7LmW2xYc8Rn=aK5v"
HALF = len(KEY) // 2
ECHOES = {
    "small letters": KEY.lower(),
    "capitals": KEY.upper(),
    "reversed": KEY[::-1],
    "percent": "".join(f"%{byte:02X}" for byte in KEY.encode()),
    "address": KEY.replace("/", "%2f").replace("+", "%2b").replace("=", "%3d"),
    "hexadecimal": KEY.encode().hex(),
    "hexadecimal digits of a program": ",".join(map(hex, KEY.encode())),
    "decimal numbers": str(list(KEY.encode())),
    "octal escapes": "".join(rf"\{byte:03o}" for byte in KEY.encode()),
    "binary numbers": " ".join(f"{byte:08b}" for byte in KEY.encode()[::-1]),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 of a header": base64.b64encode(f"Bearer {KEY} ".encode()).decode(),
    "base64 after one letter": base64.b64encode(f"x{KEY}".encode()).decode(),
    "base64 after two letters": base64.b64encode(f"xx{KEY}yy".encode()).decode(),
    "base64 for addresses": base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
    "base64 of the reversal": base64.b64encode(KEY[::-1].encode()).decode(),
    "spelt out": " ".join(KEY),
    "spelt out with hyphens": " - ".join(KEY),
    "over lines": "\n".join(KEY[at : at + 8] for at in range(0, len(KEY), 8)),
    "halves": f"begins with {KEY[:HALF]} and goes on as {KEY[HALF:]}",
    "thirds": f"{KEY[:11]} | then | {KEY[11:22]} | then | {KEY[22:]}",
    "cut off": f"{KEY[:-6]}...",
    "JSON": KEY.replace("/", "\\/"),
    "rot13": codecs.encode(KEY, "rot13"),
    "full width": "".join(chr(ord(sign) + 0xFEE0) for sign in KEY),
    **{f"base32 after {n} letters": base64.b32encode(f"{'x' * n}{KEY} ".encode()).decode() for n in (0, 1, 5)},
    **{form: "".join(form % ord(sign) for sign in KEY) for form in ("\\u%04x", "\\x%02X", "&#%d;", "&#x%x;")},
}


@pytest.mark.parametrize("echo", ECHOES)
def test_values_derived_from_a_secret_are_masked(echo):
    keep_secret(KEY)
    masked = redact(f"The key is {ECHOES[echo]}, keep it.")
    assert masked.startswith("The key is ") and masked.endswith(", keep it.") and MASK in masked
    left = "".join(masked.split(MASK)).lower()
    for form in (KEY, KEY[::-1], ECHOES[echo][12:-12]):
        assert not any(form[at : at + 8].lower() in left for at in range(len(form) - 7) if form[at : at + 8].isalnum())


def test_a_key_of_eight_characters_and_pieces_of_a_long_one_are_masked_and_shorter_ones_not():
    keep_secret("correct-horse-battery-9-staple")
    for secret, shorter in (("hunter2x", "hunter2"), ("rrect-horse-", "rrect-horse"), ("ttery-9-", "tery-9-")):
        keep_secret(secret if "-" not in secret else None)
        keep_secret("words47")
        assert redact(f"({secret}) ({shorter}) words47") == f"({MASK}) ({shorter}) words47"


def test_other_text_is_left_alone():
    keep_secret(KEY)
    keep_secret("the-key-of-the-endpoint")
    documents = (PROJECT / name for name in ("README.md", "config/README.md", "SECURITY.md", "CHANGELOG.md"))
    for document in documents:
        text = document.read_text(encoding="utf-8")
        assert redact(text) == text
