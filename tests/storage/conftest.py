"""An S3 server on this machine (moto), and the shipped profiles with its address filled in.

`make test-storage` installs what these tests need; where it is not, they are skipped.
"""

import os
import uuid
from pathlib import Path

import pytest
import yaml
from running import PROJECT

KEYS = {"ACCESS_KEY": "lab", "SECRET_KEY": "key-of-the-lab"}


@pytest.fixture(scope="session")
def server():
    """Address of the server."""
    moto = pytest.importorskip("moto.server", reason="make test-storage installs moto")
    pytest.importorskip("snakemake_storage_plugin_s3", reason="make test-storage installs Snakemake's plugins")
    running = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture(scope="session")
def client(server):
    """boto3's client of the server, with a bucket `lab`."""
    import boto3

    names = {"aws_access_key_id": KEYS["ACCESS_KEY"], "aws_secret_access_key": KEYS["SECRET_KEY"]}
    client = boto3.client("s3", endpoint_url=server, region_name="us-east-1", **names)
    client.create_bucket(Bucket="lab")
    return client


@pytest.fixture
def prefix(client):
    """A folder in the bucket that no other test uses."""
    return f"s3://lab/{uuid.uuid4().hex}"


@pytest.fixture(scope="session")
def environment(server):
    """What a user sets before Snakemake is started."""
    settings = KEYS | {"ENDPOINT_URL": server}
    return os.environ | {f"SNAKEMAKE_STORAGE_S3_{name}": value for name, value in settings.items()}


@pytest.fixture
def profile(tmp_path_factory, prefix):
    """The folder of a shipped profile, by its name, with the bucket filled in."""

    def filled(name: str, **more: object) -> Path:
        values = yaml.safe_load((PROJECT / "profiles" / name / "config.yaml").read_text(encoding="utf-8"))
        assert "BUCKET" in values["default-storage-prefix"]
        folder = tmp_path_factory.mktemp(name)
        (folder / "config.yaml").write_text(yaml.safe_dump(values | {"default-storage-prefix": prefix} | more))
        return folder

    return filled
