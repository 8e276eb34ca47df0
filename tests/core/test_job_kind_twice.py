"""The language of JobKind suffices: what is built in for JobSet and PyTorchJob, said in it, gives the same results."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.jobs import JOB_KINDS
from admission.jobs.described import described
from admission.jobs.descriptor import Descriptor
from admission.jobs.workload import compose
from admission.model.job import Job
from admission.readers.job_kind import read_job_kind
from tests.core import job_kind_laws as laws
from tests.core.manifests import SAMPLES
from tests.core.manifests.pods import Object, Sample
from tests.core.test_jobs import merged

EXAMPLES = Path(__file__).parents[2] / "examples" / "job-kinds"

few = st.integers(0, 3)
endings = st.sampled_from(["Completed", "Succeeded", "Failed", "Running", "Suspended"])
conditions = st.lists(
    st.fixed_dictionaries(
        {"type": endings, "status": st.sampled_from(["True", "False"]), "message": st.sampled_from(["done", "oops"])}
    ),
    max_size=2,
    unique_by=lambda one: str(one["type"]),
)


def _described(file: str) -> Descriptor:
    found = read_job_kind(yaml.safe_load((EXAMPLES / file).read_text()))
    assert found.rules is not None, found.problem
    return described(found.kind, found.rules)


TWICE = {"JobSet": _described("jobset.yaml"), "PyTorchJob": _described("pytorchjob.yaml")}
every_one = pytest.mark.parametrize("kind", list(TWICE))


@st.composite
def _job_set_status(draw: st.DrawFn, manifest: Object) -> Object:
    """Counts that add up: no more Jobs are ready or done than there are."""
    told = []
    for one in manifest["spec"]["replicatedJobs"]:
        replicas = one.setdefault("replicas", 1)  # as the API server fills it in
        done = draw(st.integers(0, replicas))
        told.append({"name": one["name"], "succeeded": done, "ready": draw(st.integers(0, replicas - done)),
                     "active": draw(st.integers(0, replicas - done))})  # fmt: skip
    return {"replicatedJobsStatus": told, "conditions": draw(conditions)}


@st.composite
def _training_status(draw: st.DrawFn, manifest: Object) -> Object:
    replicas = {name: {"active": draw(few)} for name in manifest["spec"]["pytorchReplicaSpecs"]}
    ended = draw(conditions.filter(lambda found: len({one["type"] for one in found} & {"Succeeded", "Failed"}) < 2))
    return {"replicaStatuses": replicas, "conditions": ended}


STATUS = {"JobSet": _job_set_status, "PyTorchJob": _training_status}


def _read(descriptor: Descriptor, manifest: Object) -> Job:
    """But for the kind's name, and how it is described; that no pods are needless can be said in two ways."""
    found = descriptor.read(manifest)
    needless = {name: pods for name, pods in found.reclaimable.items() if pods}
    return replace(found, ref=found.ref._replace(kind=""), reclaimable=needless, described_by="")


def _compared(kind: str, data: st.DataObject) -> None:
    sample: Sample = data.draw(SAMPLES[kind])
    known, other = JOB_KINDS[kind], TWICE[kind]
    status: Object = data.draw(STATUS[kind](sample.manifest))
    manifest: Any = {**sample.manifest, "status": status}
    assert _read(other, manifest) == _read(known, manifest)
    assert other.pod_sets(manifest) == known.pod_sets(manifest)
    assert other.suspend() == known.suspend()
    assert (other.stop, other.forget_start()) == (known.stop, known.forget_start())
    infos = data.draw(laws.infos_for(sample))
    started = known.start(manifest, infos)
    assert other.start(manifest, infos) == started
    running, workload = merged(manifest, started), compose(kind, manifest, "w")
    assert other.restore(running, workload) == known.restore(running, workload)
    assert other.restore(running, None) == known.restore(running, None)


@every_one
@given(st.data())
@settings(max_examples=6)
def test_described_it_is_what_is_built_in(kind: str, data: st.DataObject) -> None:
    _compared(kind, data)


@pytest.mark.long
@every_one
@given(st.data())
@settings(max_examples=2000)
def test_described_it_is_always_what_is_built_in(kind: str, data: st.DataObject) -> None:
    _compared(kind, data)
