"""What holds of every kind of job, whatever its manifest says.

A kind takes part by samples in `tests.core.manifests`; `test_job_kind_laws` tries them.
"""

from contextlib import suppress
from typing import Any

from hypothesis import strategies as st

from admission.jobs import JOB_KINDS
from admission.jobs.templates import PermanentProblem
from admission.jobs.workload import compose, equivalent
from admission.model.effects import PodSetInfo
from admission.model.workload import Toleration
from admission.readers.workload import read_workload
from tests.core.manifests.pods import Object, Pods, Sample, maps
from tests.core.test_jobs import merged

WRONG: tuple[Any, ...] = (
    None,
    True,
    2**70,
    -1,
    -1.5,
    "",
    "no",
    "\ud800",
    [],
    [None, "x"],
    {},
    {"a": None},
    [{"name": "x"}, {"name": "x"}],
)

tolerated = st.lists(
    st.sampled_from([Toleration("pool", "Equal", "", ""), Toleration("x", "Exists", "", "", 30)]), max_size=2
)


@st.composite
def infos_for(draw: st.DrawFn, sample: Sample) -> list[PodSetInfo]:
    """What an admission may bring to the pod sets of a sample: keys that no template has."""
    return [
        PodSetInfo(
            pods.name,
            pods.count,
            node_selector=_fresh(draw(maps)),
            tolerations=tuple(draw(tolerated)),
            labels=_fresh(draw(maps)),
            annotations=_fresh(draw(maps)),
        )
        for pods in sample.pods
    ]


def pod_sets_ask_for_what_the_pods_will(kind: str, sample: Sample) -> None:
    """No container's request is lost, none is counted twice."""
    job = JOB_KINDS[kind].read(sample.manifest)
    assert (job.problem, job.on_hold, job.skipped) == ("", False, False)
    asked = [Pods(one.name, one.count, {name: n for name, n in one.requests.items() if n}) for one in job.pod_sets]
    assert asked == list(sample.pods)


def its_workload_says_the_same(kind: str, sample: Sample) -> None:
    """The Workload that is made of a job is one that fits it, and asks for as much."""
    job = JOB_KINDS[kind].read(sample.manifest)
    workload = read_workload(compose(kind, sample.manifest, "w"))
    assert equivalent(job, workload)
    assert [one.requests for one in workload.pod_sets] == [one.requests for one in job.pod_sets]
    assert [one.name for one in workload.pod_sets] == [one.name for one in job.pod_sets]


def starting_reaches_every_pod(kind: str, sample: Sample, infos: list[PodSetInfo]) -> None:
    """In one patch the job is let go, and its pods get all that the admission brings, besides what they had."""
    running = _started(kind, sample.manifest, infos)
    assert JOB_KINDS[kind].read(sample.manifest).suspended
    assert not JOB_KINDS[kind].read(running).suspended
    for info, before, after in zip(infos, _templates(kind, sample.manifest), _templates(kind, running), strict=True):
        for place, added in (("labels", info.labels), ("annotations", info.annotations)):
            assert after.get("metadata", {}).get(place, {}) == {**before.get("metadata", {}).get(place, {}), **added}
        assert after["spec"].get("nodeSelector", {}) == {**before["spec"].get("nodeSelector", {}), **info.node_selector}
        assert _others(after) == _others(before)
    known = JOB_KINDS[kind].read(running).pod_sets
    for info, one in zip(infos, known, strict=True):
        assert set(info.tolerations) <= set(one.tolerations)


def started_again_it_is_the_same(kind: str, sample: Sample, infos: list[PodSetInfo]) -> None:
    """A start whose answer was lost can be sent once more."""
    running = _started(kind, sample.manifest, infos)
    assert _started(kind, running, infos) == running


def start_then_stop_gives_it_back(kind: str, sample: Sample, infos: list[PodSetInfo]) -> None:
    """Byte for byte, whatever was brought."""
    workload = compose(kind, sample.manifest, "w")
    running = _started(kind, sample.manifest, infos)
    stopped = _stopped(kind, running, workload)
    assert _without_empty_annotations(stopped) == _without_empty_annotations(sample.manifest)
    assert _stopped(kind, stopped, workload) == stopped


def garbage_is_no_surprise(kind: str, sample: Sample, spoilt: Any, infos: list[PodSetInfo]) -> None:
    """Of a manifest with a wrong field everything can be asked; what cannot be done says so."""
    descriptor = JOB_KINDS[kind]
    workload = compose(kind, sample.manifest, "w")
    job = descriptor.read(spoilt)
    pod_sets = descriptor.pod_sets(spoilt)
    assert [(one["name"], one["count"]) for one in pod_sets] == [(one.name, one.count) for one in job.pod_sets]
    assert all(one.count >= 0 for one in job.pod_sets)
    fitting = [PodSetInfo(one.name, one.count, {"x": "y"}, (), {"x": "y"}, {"x": "y"}) for one in job.pod_sets]
    for brought in (infos, fitting):
        with suppress(PermanentProblem):
            descriptor.start(spoilt, brought)
    for manifest, made in ((spoilt, workload), (spoilt, None), (sample.manifest, spoilt), (spoilt, spoilt)):
        descriptor.restore(manifest, made)
    with suppress(PermanentProblem):
        compose(kind, spoilt, "w")


@st.composite
def spoilt(draw: st.DrawFn, manifest: Object) -> Any:
    """The manifest with one field, at whatever depth, replaced by something that should not be there, or gone."""
    return _spoilt(draw, manifest, top=True)


def _spoilt(draw: st.DrawFn, value: Any, top: bool = False) -> Any:
    if value and isinstance(value, dict) and (top or draw(st.integers(0, 5))):
        name = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 7)):
            return {**value, name: _spoilt(draw, value[name])}
        return {key: field for key, field in value.items() if key != name}
    if value and isinstance(value, list) and draw(st.integers(0, 5)):
        position = draw(st.integers(0, len(value) - 1))
        return [*value[:position], _spoilt(draw, value[position]), *value[position + 1 :]]
    return draw(st.sampled_from(WRONG))


def _started(kind: str, manifest: Object, infos: list[PodSetInfo]) -> Object:
    result: Object = merged(manifest, JOB_KINDS[kind].start(manifest, infos))
    return result


def _stopped(kind: str, running: Object, workload: Object) -> Object:
    descriptor = JOB_KINDS[kind]
    if descriptor.stop == "InSteps":
        running = merged(running, descriptor.suspend())
        running = merged(running, descriptor.forget_start() or {})
        running.pop("status", None)  # the tests' manifests have none
    result: Object = merged(running, descriptor.restore(running, workload))
    return result


def _templates(kind: str, manifest: Object) -> list[Object]:
    return [one["template"] for one in JOB_KINDS[kind].pod_sets(manifest)]


def _others(template: Object) -> Object:
    spec = {name: value for name, value in template["spec"].items() if name not in ("nodeSelector", "tolerations")}
    return {**{name: value for name, value in template.items() if name != "metadata"}, "spec": spec}


def _without_empty_annotations(manifest: Object) -> Object:
    # The API server drops an empty map of annotations.
    metadata = {name: value for name, value in manifest["metadata"].items() if name != "annotations" or value}
    return {**manifest, "metadata": metadata}


def _fresh(drawn: dict[str, str]) -> dict[str, str]:
    return {f"new-{key}": value for key, value in drawn.items()}
