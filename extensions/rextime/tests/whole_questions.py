"""Files of questions without a fault, and the commands that read them."""

from question_pages import QUESTIONS, marked, question_key
from whole_videos import write_small_video

from verified.io.jsonl import write_json, write_jsonl


def rextime_files(folder):
    key = question_key("verify")
    write_json(folder / "key.json", key)
    write_json(folder / "answers.json", marked(key))
    write_jsonl(folder / "questions.jsonl", QUESTIONS)
    given = [{"qid": row["qid"], "pred_relevant_windows": [[0.5, 2.0, 0.9]], "ans": "B"} for row in QUESTIONS]
    write_jsonl(folder / "given.jsonl", given)
    importing = ["rextime", "collect", "answers.json", "--key", "key.json", "--output", "out"]
    return [
        [*importing, "--questions", "questions.jsonl"],
        ["evaluate", "questions.jsonl", "given.jsonl", "--json"],
        ["compare", "questions.jsonl", "given.jsonl", "again=given.jsonl", "--output", "out"],
    ]


def rextime_source_files(folder):
    asked = {"query": "Where was the knife before I cut?", "template": "t", "clip_start_sec": 1, "clip_end_sec": 4}
    annotation = {"annotation_uid": "a", "language_queries": [asked, {**asked, "query": "What did I put down?"}]}
    clips = [{"clip_uid": "c", "annotations": [annotation]}]
    write_json(folder / "nlq.json", {"videos": [{"video_uid": "v", "clips": clips}]})
    rows = ["video_id,qid,question,type", "1,1,what did he do after he ran,TN", "1,2,why did he run,CW"]
    (folder / "gqa.csv").write_text("\n".join(rows) + "\n")
    write_jsonl(folder / "spans.jsonl", [{"id": "1/1", "question_span": [1, 2], "answer_span": [2, 3]}])
    return [["rextime", "count", "ego4d-nlq", "nlq.json"], ["rextime", "count", "next-gqa", "gqa.csv"]]


def question_files(folder):
    for video in ("one", "two"):
        write_small_video(folder / "videos" / f"{video}.mp4")
    write_jsonl(folder / "questions.jsonl", QUESTIONS)
    asked = ["--videos", "videos", "--output", "out", "--side", "48"]
    return [
        ["rextime", "questions", "questions.jsonl", "--tool", "verify", *asked, "--items-per-page", "2"],
        ["rextime", "questions", "questions.jsonl", "--tool", "question-span", *asked, "--raters", "2"],
        ["rextime", "questions", "questions.jsonl", "--tool", "human", *asked],
    ]


KINDS = (rextime_files, rextime_source_files, question_files)
