"""JobProfiles through the whole product: a job that names nothing is stamped, queued, has its queue made, and runs."""

from typing import Any

from admission.model.kinds import Ref
from admission.world.world import World
from tests.core.storms import pods
from tests.core.test_job_profile import profile
from tests.core.test_world import job, ref, with_cluster

KUEUE = "kueue.x-k8s.io/v1beta2"
CREATE = {"name": "made", "create": {"fromTemplate": "small"}}


def world_with(**spec: Any) -> World:
    """`spec`: of one profile. A template of queues in the product's own namespace leads to a queue of 6 cpu."""
    world = with_cluster(World())
    made = profile(**spec)
    queue = {"name": "small", "namespace": "kueue-system"}
    for manifest in (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}},
        {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": queue, "spec": {"clusterQueue": "c"}},
        made,
    ):
        answered = world.api.create(manifest)
        assert answered.ok or answered.code == 409, answered.message
    world.settle()
    return world


def bare_job(name: str = "j") -> dict[str, Any]:
    metadata = {"name": name, "namespace": "lab"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": pods(1)}}


def test_a_job_that_names_nothing_is_stamped_and_runs_in_a_queue_made_for_it() -> None:
    world = world_with(stamp={"queue": CREATE, "qosClass": "LS"})
    world.api.create(bare_job())
    world.settle()
    made = world.api.get(Ref("LocalQueue", "lab", "made")).body
    assert made is not None
    assert made["spec"]["clusterQueue"] == "c"
    assert made["metadata"]["annotations"] == {"lockgate.dev/queue-from": "small"}
    running = world.api.get(ref("j")).body
    assert running is not None
    assert running["spec"]["suspend"] is False
    assert running["metadata"]["labels"]["koordinator.sh/qosClass"] == "LS"
    assert running["spec"]["template"]["metadata"]["labels"]["koordinator.sh/qosClass"] == "LS"


def test_a_second_apply_changes_nothing_that_was_stamped() -> None:
    world = world_with(stamp={"queue": CREATE, "qosClass": "LS"})
    world.api.create(bare_job())
    world.settle()
    before = world.api.get(ref("j")).body
    assert before is not None
    applied = world.api.patch(ref("j"), bare_job())
    assert applied.ok
    assert applied.body is not None
    assert applied.body["spec"] == before["spec"]
    assert applied.body["metadata"]["labels"] == before["metadata"]["labels"]


def test_templates_that_come_back_as_their_author_wrote_them_are_stamped_again() -> None:
    """A second apply puts whole lists back, and with them the templates that lie in one."""
    world = world_with(stamp={"queue": {"name": "nowhere"}, "qosClass": "LS", "labels": {"cost-center": "42"}})
    group = {"name": "workers", "replicas": 1, "template": {"spec": {"parallelism": 1, "template": pods(1)}}}
    written = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "j", "namespace": "lab"},
        "spec": {"replicatedJobs": [group]},
    }
    assert world.api.create(written).ok
    world.settle()
    where = Ref("JobSet", "lab", "j")
    before = world.api.get(where).body
    assert before is not None
    metadata = before["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["metadata"]
    assert metadata["labels"] == {"koordinator.sh/qosClass": "LS", "cost-center": "42"}
    applied = world.api.patch(where, written)
    assert applied.ok, applied.message
    assert applied.body is not None
    assert applied.body["spec"] == before["spec"]
    assert applied.body["metadata"]["annotations"] == before["metadata"]["annotations"]


def test_nobody_changes_what_stamping_noted() -> None:
    world = world_with(stamp={"queue": CREATE})
    world.api.create(bare_job())
    forged = {"metadata": {"annotations": {"lockgate.dev/queue-from": "everything"}}}
    refused = world.api.patch(ref("j"), forged)
    assert not refused.ok
    assert "metadata.annotations[lockgate.dev/queue-from]: Forbidden: is written by Lockgate alone" in refused.message


def test_a_queue_is_made_for_nobody_who_asks_for_it_by_annotation() -> None:
    world = world_with(match={"users": ["somebody-else"]}, stamp={"queue": CREATE})
    forged = job("j", 1, "made")
    forged["metadata"]["annotations"] = {"lockgate.dev/queue-from": "small"}
    assert world.api.create(forged).ok
    world.settle()
    assert world.api.get(Ref("LocalQueue", "lab", "made")).body is None


def test_the_status_tells_how_many_jobs_were_stamped() -> None:
    world = world_with(stamp={"queue": CREATE})
    for name in "abc":
        world.api.create(bare_job(name))
    world.advance(world.clock.now + 60)
    said = world.api.get(Ref("JobProfile", "", "etl")).body
    assert said is not None
    assert said["status"]["matched"] == 3
    assert said["status"]["conditions"][0]["reason"] == "Ready"
