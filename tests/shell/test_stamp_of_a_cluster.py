"""`lockgate stamp --kubeconfig`: the profiles are those of the cluster, and what it does not serve it has none of."""

import asyncio
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from controller.cli.__main__ import app
from controller.cli.complaint import Complaint
from tests.core.test_job_profile import profile
from tests.core.test_stamp_command import bare_job, written
from tests.shell.apiserver import ApiServer

PROFILES = "/apis/lockgate.dev/v1alpha1/jobprofiles"


def kubeconfig(folder: Path, url: str) -> str:
    path = folder / "config"
    context = {"name": "here", "context": {"cluster": "c", "user": "u"}}
    cluster, user = {"name": "c", "cluster": {"server": url}}, {"name": "u", "user": {"token": "sesame"}}
    config = {"contexts": [context], "clusters": [cluster], "users": [user], "current-context": "here"}
    path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **config}), encoding="utf-8")
    return str(path)


async def stamped(folder: Path, url: str) -> Result:
    arguments = ["stamp", "-f", written(folder, "job.yaml", bare_job()), "--kubeconfig", kubeconfig(folder, url)]
    return await asyncio.to_thread(lambda: CliRunner().invoke(app, arguments, catch_exceptions=False))


async def test_the_profiles_of_a_cluster_count(server: ApiServer, tmp_path: Path) -> None:
    server.served |= {"lockgate.dev/v1alpha1": ["jobprofiles"]}
    await server.put(f"{PROFILES}/etl", spec=profile()["spec"])
    namespace = await server.put("/api/v1/namespaces/lab")
    assert namespace["metadata"]["name"] == "lab"
    printed = (await stamped(tmp_path, server.url)).stdout
    assert "JobProfile etl: metadata.labels[kueue.x-k8s.io/queue-name]: etl" in printed


async def test_a_cluster_without_profiles_changes_nothing(server: ApiServer, tmp_path: Path) -> None:
    assert "  stays as it is\n" in (await stamped(tmp_path, server.url)).stdout


async def test_a_cluster_that_cannot_be_reached_is_complained_of(tmp_path: Path) -> None:
    with pytest.raises(Complaint, match="--kubeconfig"):
        await stamped(tmp_path, "http://127.0.0.1:9")
