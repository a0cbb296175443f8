"""Whole runs whose results are in a bucket: on one machine, and in pods that share no file system.

The server is moto's, the cluster that of `pods`; neither a real object store nor a real cluster was at hand.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pods
import pytest
from running import NANO, PROJECT, digests, snakemake

from verified.lmm.ledger import Ledger
from verified.lmm.ledger_check import faults

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

IN_PODS = (
    "results/nano/evaluator/clips/shard-00.jsonl",  # decodes videos that another pod rendered
    "results/nano/captions/statics/shard-01.jsonl",  # asks a model
    "results/nano/features/video.h5",  # links to files of other pods
)


def stored(client, prefix: str) -> dict[str, str]:
    """SHA-256 of every file of a run in the bucket, by path, as `digests` gives them of a folder."""
    bucket, _, folder = prefix.removeprefix("s3://").partition("/")
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{folder}/results/")
    keys = [item["Key"] for page in pages for item in page["Contents"]]
    bodies = {key[len(folder) + 1 :]: client.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}
    return {path: hashlib.sha256(body).hexdigest() for path, body in bodies.items() if "ledger.sqlite" not in path}


def calls(ledger: Path) -> set[str]:
    """Keys of the calls of a sound ledger; none was asked twice."""
    with Ledger(ledger, read_only=True) as opened:
        assert list(faults(opened)) == []
        rows = list(opened.rows())
        assert all(row["attempts"] == 1 for row in rows)
        assert opened.connection.execute("SELECT count(*) FROM main.calls").fetchone() == (len(rows),)
    return {row["key"] for row in rows}


def test_a_run_in_a_bucket_equals_one_on_a_disk(client, nano, prefix, profile, environment, tmp_path):
    """Every file that jobs wrote, seals included; then a machine with an empty disk finds nothing left to do."""
    first, second = tmp_path / "first", tmp_path / "second"
    options = ("--profile", str(profile("s3")), "--cores", "2", "results/tables")
    run = snakemake(first, *options, env=environment)
    assert run.returncode == 0, run.stdout[-6000:]
    there, local = stored(client, prefix), digests(nano)
    assert there == {path: digest for path, digest in local.items() if path in there}
    outputs = {path for path in local if not is_scratch(path)}
    assert outputs - there.keys() == set(), "an output or its seal is not in the bucket"
    assert calls(first / "results" / "ledger.sqlite") == calls(nano / "results" / "ledger.sqlite")

    shutil.rmtree(first)
    again = snakemake(second, *options, env=environment)
    assert again.returncode == 0 and "Nothing to be done" in again.stdout, again.stdout[-4000:]
    assert calls(second / "results" / "ledger.sqlite") == calls(nano / "results" / "ledger.sqlite")


def is_scratch(path: str) -> bool:
    """Whether jobs keep a file for their next time on this disk (`runtime.earlier`, `statistics.cache`)."""
    return ".earlier" in path or path.startswith("results/statistics/")


def test_pods_that_share_no_file_system_write_the_same_bytes(client, nano, prefix, profile, environment, tmp_path):
    """The shipped profile on a cluster of one machine: each job in an empty folder, sources and files by the bucket."""
    pytest.importorskip("snakemake_executor_plugin_kubernetes", reason="make test-storage installs it")
    controller, folder = tmp_path / "controller", tmp_path / "cluster"
    folder.mkdir()
    for name in ("rules", "scripts", "envs", "report", "config"):
        shutil.copytree(PROJECT / name, controller / name, ignore=shutil.ignore_patterns("verified", "__pycache__"))
    shutil.copy(PROJECT / "Snakefile", controller)
    filled = profile("kubernetes", **{"kubernetes-namespace": "lab", "container-image": "lab/verified-pods"})
    command = [sys.executable, "-m", "snakemake", "--profile", str(filled), "--configfile", f"config/{NANO.name}"]
    command += ["--workflow-profile", str(PROJECT / "profiles" / "default"), "--jobs", "2"]
    command += ["--seconds-between-status-checks", "1", *IN_PODS]
    with pods.cluster(folder) as cluster:
        settings = environment | {"KUBECONFIG": str(folder / "kubeconfig")}
        run = subprocess.run(command, cwd=controller, env=settings, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr[-3000:] + cluster.logs()
    assert not any((controller / "results" / "nano").glob("*")), "the pods' files are in the bucket alone"
    there, local = stored(client, prefix), digests(nano)
    assert there.keys() >= set(IN_PODS) and there == {path: local[path] for path in there}
    assert calls(controller / "results" / "ledger.sqlite") < calls(nano / "results" / "ledger.sqlite")

    asked = {container["image"] for _, container in containers(cluster)}
    assert asked == {"lab/verified-pods"}
    for job, container in containers(cluster):
        wanted = container["resources"]
        assert set(wanted["limits"]) == set(wanted["requests"]) >= {"cpu", "memory", "ephemeral-storage"}
        assert environment["SNAKEMAKE_STORAGE_S3_SECRET_KEY"] not in str(job), "keys go by a secret of the cluster"
        assert {variable["name"] for variable in container["env"]} >= {"SNAKEMAKE_STORAGE_S3_SECRET_KEY"}


def containers(cluster: pods.Cluster) -> list[tuple[dict, dict]]:
    """Each job that was posted, with its only container."""
    return [(job, job["spec"]["template"]["spec"]["containers"][0]) for job in cluster.jobs.values()]
