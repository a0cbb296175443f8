"""Watching a run: what its files say, on a terminal, in a pipe and on a page, and nothing of it touched."""

import fcntl
import os
import platform
import pty
import re
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from browser import browser
from every_reader import resize, shoot_everywhere, walk_by_tab
from ledger_rows import row_of
from refusals import refused

from verified.__main__ import main
from verified.io.jsonl import write_json
from verified.lmm.ledger import Ledger
from verified.planning.watch import Watch
from verified.planning.watch_screen import headline, lines, web_page


def stamp(ago):
    return time.strftime("[%a %b %d %H:%M:%S %Y]", time.localtime(time.time() - ago))


def start(rule, number, ago, wildcards="dataset=mine, shard=shard-00", log="logs/a.log"):
    return [stamp(ago), f"localrule {rule}:", f"    log: {log}", f"    jobid: {number}", f"    wildcards: {wildcards}"]


def finish(rule, number, ago, done, total):
    return [stamp(ago), f"Finished jobid: {number} (Rule: {rule})", f"{done} of {total} steps (0%) done"]


def head(ago=100, **jobs):
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() - ago))
    table = [f"{rule}    {count}" for rule, count in jobs.items()] + [f"total  {sum(jobs.values())}", ""]
    config = "  Config file(s): [PosixPath('mine.yaml')]"
    return [f"  Date: {began}", f"  Host: {platform.node()}", config, "Job stats:", "job  count", "---  ---", *table]


JOBS = {"probe_videos": 2, "caption_statics": 2, "build_tables": 1}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A folder with a configuration; what is called writes lines to the log of its run."""
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(
        "name: mine\ndatasets: {mine: {title: Mine, source: {kind: folder, videos: videos, moments: m.csv}}}\n"
        "generation: {ledger: ledger.sqlite, budget: {money: 2.0}}\n"
    )
    log = Path(".snakemake/log/2026-01-01T000000.snakemake.log")
    log.parent.mkdir(parents=True)

    def write(*blocks):
        with log.open("a") as out:
            out.writelines(f"{line}\n" for block in blocks for line in block)

    return write


def test_stages_jobs_and_time_left_follow_the_log(run):
    run(head(**JOBS), start("probe_videos", 1, 90), finish("probe_videos", 1, 60, 1, 5))
    run(start("probe_videos", 2, 60), start("caption_statics", 3, 50))
    watch = Watch()
    first = watch.look()
    assert first.status == "running" and first.log.steps == (1, 5)
    assert first.stages == [("corpus", 1, 2, 1, 0), ("captions", 0, 2, 1, 0), ("tables", 0, 1, 0, 0)]
    assert first.untimed == ["build_tables", "caption_statics"] and first.left == pytest.approx(0, abs=1)
    run(finish("caption_statics", 3, 10, 2, 5), finish("probe_videos", 2, 5, 3, 5), start("caption_statics", 4, 0))
    second = watch.look()
    assert second.log.steps == (3, 5) and [job.number for job, _ in second.work] == ["4"]
    assert second.untimed == ["build_tables"] and second.left == pytest.approx(40, abs=3)
    assert "time left unknown (2 rules" in headline(first), "what is at work takes longer than it did before"
    assert "3 of 5 steps" in headline(second) and "s left, without 1 rule that" in headline(second)
    run(finish("caption_statics", 4, 0, 4, 5), finish("build_tables", 5, 0, 5, 5), ["Complete log(s): x"])
    assert watch.look().status == "done"


def test_a_line_that_is_half_written_is_read_when_it_is_whole(run):
    run(head(**JOBS))
    watch = Watch()
    with watch.log.path.open("a") as out:
        out.write("1 of 5 st")
    assert watch.look().log.steps == (0, 5)
    run(["eps (20%) done"])
    assert watch.look().log.steps == (1, 5)


def test_a_failure_names_its_job_and_log_unless_the_job_is_tried_again(run, capsys):
    run(head(**JOBS), start("caption_statics", 3, 50, log="logs/s.log"))
    run(
        [
            stamp(9),
            "Error in rule caption_statics:",
            "    jobid: 3",
            "    log: logs/s.log (check log file(s) for details)",
        ]
    )
    watch = Watch()
    assert watch.look().stages[1] == ("captions", 0, 2, 0, 1)
    run(["Trying to restart job 3."])
    assert not watch.look().log.failed
    run([stamp(9), "Error in rule caption_statics:", "    jobid: 3", "    log: logs/s.log"])
    run(["Exiting because a job execution failed. Look above for error messages", "Complete log(s): x"])
    assert main(["watch"]) == 1
    shown = capsys.readouterr().out
    assert "failed" in shown and "logs/s.log" in shown and "shard-00" not in shown.splitlines()[0]


def test_a_failure_says_what_its_job_did(run, capsys):
    run(head(**JOBS), start("caption_statics", 3, 50, log="s.log"))
    Path("s.log").write_text("10:00:00 statics: 1/2 calls (50 %)\n10:00:01 error: the budget is reached (raise it)\n")
    run([stamp(9), "Error in rule caption_statics:", "    jobid: 3", "    log: s.log (check log file(s) for details)"])
    run(["Exiting because a job execution failed. Look above for error messages", "Complete log(s): x"])
    assert main(["watch", "--once"]) == 1
    assert "the budget is reached (raise it)" in capsys.readouterr().out


def test_a_log_that_no_file_can_be_is_passed_over(run, capsys):
    run(head(**JOBS), start("caption_statics", 3, 50, log="s\0.log"))
    run(
        [stamp(9), "Error in rule caption_statics:", "    jobid: 3", "    log: s\0.log (check log file(s) for details)"]
    )
    assert main(["watch", "--once"]) in (0, 1) and "captions" in capsys.readouterr().out


def test_calls_count_once_by_their_answer_and_money_against_the_budget(run, tmp_path):
    run(head(**JOBS))
    with Ledger("ledger.sqlite") as ledger:
        now = time.time()
        for number in range(3):
            ledger.put({**row_of(number), "created": now - 1000})
        ledger.put({**row_of(3), "status": "invalid", "reason": "too-few", "created": now - 1})
        ledger.put(
            {**row_of(3), "status": "ok", "reason": "", "created": time.time(), "cost": 0.25}
        )  # its second attempt
        ledger.put(
            {**row_of(4), "status": "error", "reason": "timeout", "text": "", "created": time.time(), "cost": 0.0}
        )
    standing = Watch().look()
    assert standing.calls.outcomes == {"ok": 4} and standing.calls.waiting == {"timeout": 1}
    assert standing.calls_here.answered == 1 and standing.calls.attempts == 6
    shown = "\n".join(lines(standing))
    assert "1.25 of 2 money" in shown and "1 timeout" in shown


def test_moments_are_counted_with_what_was_left_out(run):
    run(head(**JOBS))
    write_json("results/mine/corpus/counts.json", {"moments": 7, "excluded_rows": {"black": 2}})
    shard = {"moments": 3, "complete": 2, "short": 1, "without": 0}
    for number in range(2):
        write_json(f"results/mine/captions/statics/shard-0{number}.counts.json", shard)
    shown = "\n".join(lines(Watch().look()))
    assert "7 moments, 2 rows left out (black 2)" in shown and "statics 4 complete, 2 short, 0 without" in shown


@pytest.mark.parametrize("written", ["[]", "{}", "{", '{"moments": [1], "excluded_rows": 7}', '{"moments": NaN}'])
def test_counts_that_are_none_are_not_shown(run, written):
    run(head(**JOBS))
    for name in ("corpus/counts.json", "captions/statics/shard-00.counts.json", "perturbations/shard-00.counts.json"):
        place = Path("results/mine", name)
        place.parent.mkdir(parents=True)
        place.write_text(written)
    assert Watch().look().moments == [("mine", {})]


def test_a_ledger_that_lost_its_numbers_stops_no_watching(run, capsys):
    run(head(**JOBS))
    with Ledger("ledger.sqlite") as ledger:
        ledger.put(row_of(1))
    for change in (
        "UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '')",  # what damaged pages amount to
        "UPDATE calls SET attempts = NULL, cost = NULL",
    ):
        with sqlite3.connect("ledger.sqlite") as database:
            database.execute("PRAGMA writable_schema = 1")
            database.execute(change)
    assert main(["watch", "--once"]) == 0
    assert "calls" in capsys.readouterr().out


def test_the_progress_of_a_job_is_that_of_its_own_log_and_no_older_one(run):
    run(head(**JOBS), start("caption_statics", 3, 50))
    Path("logs").mkdir()
    Path("logs/a.log").write_text("10:00:00 keyframe description: 3/9 calls (33 %), 1.0/s, 6 s left\x1b[31m\n")
    ((_, progress),) = Watch().look().work
    assert progress.startswith("keyframe description: 3/9 calls") and "\x1b" not in progress
    os.utime("logs/a.log", (time.time() - 500, time.time() - 500))
    ((_, progress),) = Watch().look().work
    assert progress == ""


def test_a_killed_run_is_told_from_one_that_is_silent_without_touching_its_lock(run):
    run(head(**JOBS), start("caption_statics", 3, 5000))
    log = next(Path(".snakemake/log").iterdir())
    os.utime(log, (time.time() - 3000, time.time() - 3000))
    lock = Path(".snakemake/run.lock")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        before = lock.stat()
        assert Watch().look().status == "running"
        assert lock.stat() == before
    assert Watch().look().status == "broken off"
    log.write_text(log.read_text().replace(platform.node(), "another-host"))
    os.utime(log, (time.time() - 3000, time.time() - 3000))
    assert Watch().look().status == "running"


def test_a_pipe_gets_plain_lines_as_things_happen(run, tmp_path):
    run(head(**JOBS))
    watching = subprocess.Popen(
        [sys.executable, "-m", "verified", "watch", "--every", "0.1"], stdout=subprocess.PIPE, text=True
    )
    assert "0 of 5 steps" in watching.stdout.readline()
    run(finish("probe_videos", 1, 0, 1, 5))
    assert "1 of 5 steps" in watching.stdout.readline()
    run(finish("build_tables", 2, 0, 5, 5), ["Complete log(s): x"])
    rest = watching.communicate(timeout=30)[0]
    assert watching.returncode == 0 and "done" in rest and "\x1b" not in rest


def test_a_terminal_is_drawn_over_within_its_size(run):
    run(head(**JOBS), finish("build_tables", 2, 0, 5, 5), ["Complete log(s): x"])
    outer, inner = pty.openpty()
    environment = {**os.environ, "COLUMNS": "30", "LINES": "6"}
    command = [sys.executable, "-m", "verified", "watch"]
    assert subprocess.run(command, stdout=inner, env=environment).returncode == 0
    os.close(inner)
    shown = os.read(outer, 65536).decode()
    os.close(outer)
    assert shown.startswith("\x1b[H") and shown.endswith("\x1b[J")
    assert all(len(line) < 30 for line in re.sub(r"\x1b\[\w", "", shown).splitlines())
    assert len(shown.splitlines()) <= 6


def test_the_page_loads_itself_again_until_the_run_is_over(run):
    run(head(**JOBS), start("caption_statics", 3, 5, wildcards="dataset=<b>mine</b>"))
    assert main(["watch", "--once", "--page", "run.html"]) == 0
    page = Path("run.html").read_text()
    assert 'id="pause" data-seconds="2"' in page and "<b>mine" not in page
    run(finish("build_tables", 2, 0, 5, 5), ["Complete log(s): x"])
    assert 'id="pause"' not in web_page(Watch().look(), 2)


def test_a_browser_shows_how_the_run_goes_on(run, tmp_path):
    run(head(**JOBS), start("caption_statics", 3, 5))
    assert main(["watch", "--once", "--page", "run.html", "--every", "1"]) == 0
    with browser(tmp_path / "browser") as page:
        page.open(Path("run.html"))
        assert "0 of 5 steps" in page.run("document.body.innerText")
        assert page.run("document.querySelector('progress').value") == 0
        run(finish("caption_statics", 3, 0, 1, 5))
        assert main(["watch", "--once", "--page", "run.html", "--every", "1"]) == 0
        page.wait("document.body && document.body.innerText.includes('1 of 5 steps')")
        page.insist(lambda: page.run("byId('pause').focus()"), "document.activeElement.id === 'pause'")
        page.insist(lambda: page.press(" ", 32, " "), "byId('pause').textContent === 'Go on'", once=True)
        run(finish("caption_statics", 4, 0, 2, 5))
        assert main(["watch", "--once", "--page", "run.html", "--every", "1"]) == 0
        page.run("new Promise((resolve) => setTimeout(resolve, 1500))")
        assert "1 of 5 steps" in page.run("document.body.innerText"), "paused"
        page.insist(lambda: page.press(" ", 32, " "), "byId('pause').textContent === 'Pause'", once=True)
        page.wait("document.body && document.body.innerText.includes('2 of 5 steps')")
        assert not page.messages


def test_the_page_of_a_run_is_for_every_reader(run, tmp_path):
    run(head(**JOBS), start("caption_statics", 3, 5))
    assert main(["watch", "--once", "--page", "run.html"]) == 0
    with browser(tmp_path / "browser") as page:
        page.open(Path("run.html"))
        assert page.violations() == []


@pytest.mark.slow
def test_the_page_of_a_run_fits_every_width_and_is_walked_by_keyboard(run, tmp_path):
    run(head(**JOBS), start("probe_videos", 1, 90), finish("probe_videos", 1, 60, 1, 5), start("caption_statics", 3, 5))
    assert main(["watch", "--once", "--page", "run.html", "--every", "30"]) == 0
    with browser(tmp_path / "browser") as page:
        shoot_everywhere(page, "watch", lambda: page.open(Path("run.html")))
        resize(page, 360)
        page.open(Path("run.html"))
        walk_by_tab(page)


def test_nothing_has_begun(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with refused("--directory", remedy=True):
        Watch()
    assert main(["watch"]) == 2
