"""batch/v1 Jobs at random."""

from hypothesis import strategies as st

from tests.core.manifests.pods import Pods, Sample, metadata, requests_of, templates

_LABELS = {
    "batch.kubernetes.io/controller-uid": "u-1",
    "batch.kubernetes.io/job-name": "train",
    "controller-uid": "u-1",
}


@st.composite
def jobs(draw: st.DrawFn) -> Sample:
    """With and without each count, and the labels that the Job controller puts on the template."""
    template = draw(templates)
    if draw(st.booleans()):
        template = {**template, "metadata": {**template.get("metadata", {}), "labels": dict(_LABELS)}}
    counts = draw(
        st.fixed_dictionaries({}, optional={"parallelism": st.integers(0, 9), "completions": st.integers(1, 9)})
    )
    parallelism = counts.get("parallelism", 1)
    count = min(parallelism, counts.get("completions", parallelism))
    manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(),
        "spec": {"suspend": True, **counts, "template": template},
    }
    return Sample(manifest, (Pods("main", count, requests_of(template)),))


SAMPLES = {"Job": jobs()}
