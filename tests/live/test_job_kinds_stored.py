"""Jobs of every kind at random, on a real API server with their operators' CRDs: nothing that starting or stopping one
writes is pruned, defaulted or refused there, and what is stopped is stored as it was."""

from collections.abc import Iterator
from copy import deepcopy
from itertools import count

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from admission.api.crd import definitions
from admission.jobs import JOB_KINDS
from admission.jobs.ray_job import served
from admission.jobs.workload import compose
from admission.model.kinds import KINDS
from hack.cluster import Api, Cluster
from hack.job_crds import install_job_crds
from tests.core.job_kind_laws import infos_for
from tests.core.manifests import SAMPLES
from tests.core.manifests.pods import Object, Sample

pytestmark = [
    pytest.mark.timeout(1800),  # the first run on a machine builds Kubernetes
    pytest.mark.long,  # every schema costs the API server a second
]

# batch/v1 needs no CRD, and its stop in three writes is told in test_jobs. Of the others those that one patch stops.
KINDS_STOPPED_BY_A_PATCH = [kind for kind in SAMPLES if JOB_KINDS[kind].stop == "Suspend"]
NUMBERS = count()


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Cluster.start() as cluster:
        install_job_crds(cluster, KINDS_STOPPED_BY_A_PATCH)
        calls = cluster.api()
        for crd in definitions():
            calls.apply(crd)
        cluster.until(lambda: calls.answers(KINDS["Workload"].path()), "Workloads to be served")
        yield calls


@pytest.mark.parametrize("kind", KINDS_STOPPED_BY_A_PATCH)
@given(st.data())
# The server is no place to look for the smallest example.
@settings(max_examples=25, phases=[Phase.generate], database=None)
def test_a_job_that_was_started_and_stopped_is_stored_as_it_was(api: Api, kind: str, data: st.DataObject) -> None:
    sample = data.draw(SAMPLES[kind].filter(lambda sample: kind != "RayJob" or _says_who_submits(sample)))
    infos = data.draw(infos_for(sample))
    name = f"job-{next(NUMBERS)}"
    descriptor, path = JOB_KINDS[kind], KINDS[kind].path("default", name)

    stored = api.create(KINDS[kind].path("default"), _named(sample.manifest, name))
    workload = api.create(KINDS["Workload"].path("default"), compose(kind, stored, name))
    # Not their counts: where a worker group of a Ray cluster states none, the CRD has another default than KubeRay.
    assert [one["name"] for one in descriptor.pod_sets(stored)] == [one.name for one in sample.pods]

    running = api.merge(path, descriptor.start(stored, infos))
    assert not descriptor.read(running).suspended
    for info, pod_set in zip(infos, descriptor.pod_sets(running), strict=True):
        metadata = pod_set["template"].get("metadata", {})
        assert info.labels.items() <= metadata.get("labels", {}).items()
        assert info.annotations.items() <= metadata.get("annotations", {}).items()
        assert info.node_selector.items() <= pod_set["template"]["spec"].get("nodeSelector", {}).items()

    stopped = api.merge(path, descriptor.restore(running, workload))
    assert stopped["spec"] == stored["spec"]
    assert stopped["metadata"].get("annotations") == stored["metadata"].get("annotations")


def _says_who_submits(sample: Sample) -> bool:
    """Where a RayJob does not, its CRD does, and that makes one pod more."""
    return served(sample.manifest) == sample.manifest


def _named(manifest: Object, name: str) -> Object:
    """As somebody would apply it."""
    wanted = deepcopy(manifest)
    labels = wanted["metadata"]["labels"]
    annotations = wanted["metadata"].get("annotations", {})
    return {**wanted, "metadata": {"name": name, "namespace": "default", "labels": labels, "annotations": annotations}}
