"""The steps of trainings beside the moments of a user's folder."""

from verified.config import load
from verified.planning.check_retrieval import training_findings


def findings(tmp_path, moments, last="split", **retrieval):
    rows = [f"video,start,end,caption,{last}"]
    for number in range(moments):
        (tmp_path / f"v{number}.mp4").touch()
        rows.append(f"v{number},0,2,a dog {number},{('train', 'train', 'train', 'val', 'test')[number % 5]}")
    (tmp_path / "moments.csv").write_text("\n".join(rows) + "\n")
    source = {"kind": "folder", "videos": str(tmp_path), "moments": str(tmp_path / "moments.csv")}
    return list(
        training_findings(load({"datasets": {"mine": {"title": "Mine", "source": source}}, "retrieval": retrieval}))
    )


def test_steps_that_a_small_corpus_does_not_bear_are_noted(tmp_path):
    note, counts = findings(tmp_path, 25, models=["xml", "hero"], training={"xml": {"epochs": 7, "batch": 4}})
    assert note.level == "note" and note.key == "retrieval.training.hero.steps"
    assert "5,000 passes over 15 training moments of mine" in note.message and "set it to 50 or less" in note.remedy
    assert counts.level == "ok" and "on 15 moments of mine: xml 28, hero 5,000" in counts.message


def test_steps_of_the_users_own_are_counted(tmp_path):
    (counts,) = findings(tmp_path, 25, models=["xml", "hero"], training={"hero": {"steps": 60}})
    assert counts.message.endswith("xml 100, hero 60")
    assert "on 20 moments" in findings(tmp_path, 25, "scene", models=["xml"])[0].message, "the share to train on"
