"""Every kind of job keeps the laws of `job_kind_laws`: few samples in an ordinary run, many in the long one."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.jobs import JOB_KINDS
from tests.core import job_kind_laws as laws
from tests.core.manifests import SAMPLES

every_kind = pytest.mark.parametrize("kind", list(SAMPLES))


def test_every_kind_has_samples() -> None:
    assert set(SAMPLES) == set(JOB_KINDS)


def _life(kind: str, data: st.DataObject) -> None:
    sample = data.draw(SAMPLES[kind])
    infos = data.draw(laws.infos_for(sample))
    laws.pod_sets_ask_for_what_the_pods_will(kind, sample)
    laws.its_workload_says_the_same(kind, sample)
    laws.starting_reaches_every_pod(kind, sample, infos)
    laws.started_again_it_is_the_same(kind, sample, infos)
    # One that is deleted to be stopped, or never stopped, has nothing to be given back.
    if JOB_KINDS[kind].stop in ("Suspend", "InSteps"):
        laws.start_then_stop_gives_it_back(kind, sample, infos)


def _garbage(kind: str, data: st.DataObject) -> None:
    sample = data.draw(SAMPLES[kind])
    spoilt = data.draw(laws.spoilt(sample.manifest))
    laws.garbage_is_no_surprise(kind, sample, spoilt, data.draw(laws.infos_for(sample)))


@pytest.mark.parametrize("wrong", [True, 7, 1.5, "no", {"name": "c"}, None, [True, None, {"env": {"A": "1"}}]])
@pytest.mark.parametrize("field", ["containers", "initContainers"])
def test_containers_that_are_no_list_of_containers_are_kept_as_they_are(field: str, wrong: Any) -> None:
    template = {"spec": {field: wrong}}
    jobs = {"TFJob": {"tfReplicaSpecs": {"PS": {"template": template}}}, "Job": {"template": template}}
    for kind, spec in jobs.items():
        assert JOB_KINDS[kind].pod_sets({"spec": spec})[0]["template"] == template
        JOB_KINDS[kind].read({"spec": spec})


@every_kind
@given(st.data())
@settings(max_examples=5)
def test_pods_are_counted_started_and_given_back(kind: str, data: st.DataObject) -> None:
    _life(kind, data)


@every_kind
@given(st.data())
@settings(max_examples=5)
def test_no_wrong_field_surprises_a_kind(kind: str, data: st.DataObject) -> None:
    _garbage(kind, data)


@pytest.mark.long
@every_kind
@given(st.data())
@settings(max_examples=500)
def test_pods_are_always_counted_started_and_given_back(kind: str, data: st.DataObject) -> None:
    _life(kind, data)


@pytest.mark.long
@every_kind
@given(st.data())
@settings(max_examples=2000)
def test_no_wrong_field_ever_surprises_a_kind(kind: str, data: st.DataObject) -> None:
    _garbage(kind, data)
