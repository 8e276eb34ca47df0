"""Every kind of job keeps the laws of `job_kind_laws`: few samples in an ordinary run, many in the long one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.jobs import JOB_KINDS
from tests.core import job_kind_laws as laws
from tests.core.manifests import SAMPLES

every_kind = pytest.mark.parametrize("kind", list(SAMPLES))
# Kinds that are deleted to be stopped, or never stopped, have nothing to be given back.
every_restored_kind = pytest.mark.parametrize(
    "kind", [kind for kind in SAMPLES if JOB_KINDS[kind].stop in ("Suspend", "InSteps")]
)


def test_every_kind_has_samples() -> None:
    assert set(SAMPLES) == set(JOB_KINDS)


def _demand(kind: str, data: st.DataObject) -> None:
    sample = data.draw(SAMPLES[kind])
    laws.pod_sets_ask_for_what_the_pods_will(kind, sample)
    laws.its_workload_says_the_same(kind, sample)


def _start(kind: str, data: st.DataObject) -> None:
    sample = data.draw(SAMPLES[kind])
    infos = data.draw(laws.infos_for(sample))
    laws.starting_reaches_every_pod(kind, sample, infos)
    laws.started_again_it_is_the_same(kind, sample, infos)


def _stop(kind: str, data: st.DataObject) -> None:
    sample = data.draw(SAMPLES[kind])
    laws.start_then_stop_gives_it_back(kind, sample, data.draw(laws.infos_for(sample)))


def _garbage(kind: str, data: st.DataObject) -> None:
    sample = data.draw(SAMPLES[kind])
    spoilt = data.draw(laws.spoilt(sample.manifest))
    laws.garbage_is_no_surprise(kind, sample, spoilt, data.draw(laws.infos_for(sample)))


@every_kind
@given(st.data())
@settings(max_examples=8)
def test_no_request_of_a_container_is_lost(kind: str, data: st.DataObject) -> None:
    _demand(kind, data)


@every_kind
@given(st.data())
@settings(max_examples=5)
def test_starting_reaches_every_pod(kind: str, data: st.DataObject) -> None:
    _start(kind, data)


@every_restored_kind
@given(st.data())
@settings(max_examples=5)
def test_start_then_stop_gives_the_job_back(kind: str, data: st.DataObject) -> None:
    _stop(kind, data)


@every_kind
@given(st.data())
@settings(max_examples=8)
def test_no_wrong_field_surprises_a_kind(kind: str, data: st.DataObject) -> None:
    _garbage(kind, data)


@pytest.mark.long
@every_kind
@given(st.data())
@settings(max_examples=500)
def test_no_request_of_a_container_is_ever_lost(kind: str, data: st.DataObject) -> None:
    _demand(kind, data)


@pytest.mark.long
@every_kind
@given(st.data())
@settings(max_examples=500)
def test_starting_always_reaches_every_pod(kind: str, data: st.DataObject) -> None:
    _start(kind, data)


@pytest.mark.long
@every_restored_kind
@given(st.data())
@settings(max_examples=500)
def test_start_then_stop_always_gives_the_job_back(kind: str, data: st.DataObject) -> None:
    _stop(kind, data)


@pytest.mark.long
@every_kind
@given(st.data())
@settings(max_examples=3000)
def test_no_wrong_field_ever_surprises_a_kind(kind: str, data: st.DataObject) -> None:
    _garbage(kind, data)
