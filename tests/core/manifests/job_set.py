"""JobSets at random: each count stated or left to its default."""

from hypothesis import strategies as st

from tests.core.manifests.pods import Pods, Sample, metadata, requests_of, templates

_counts = st.fixed_dictionaries({}, optional={"parallelism": st.integers(0, 4), "completions": st.integers(1, 4)})


@st.composite
def job_sets(draw: st.DrawFn) -> Sample:
    """Of one to three replicated Jobs."""
    replicated, pods = [], []
    for name in draw(st.lists(st.sampled_from(["driver", "workers", "eval-2"]), min_size=1, unique=True)):
        template, counts = draw(templates), draw(_counts)
        replicas = draw(st.integers(0, 3))
        stated = {} if replicas == 1 and draw(st.booleans()) else {"replicas": replicas}
        jobs = {"metadata": {"labels": {"team": "a"}}, "spec": {**counts, "backoffLimit": 0, "template": template}}
        replicated.append({"name": name, "futureFlag": True, "template": jobs, **stated})
        parallelism = counts.get("parallelism", 1)
        count = replicas * min(parallelism, counts.get("completions", parallelism))
        pods.append(Pods(name, count, requests_of(template)))
    manifest = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": metadata(),
        "spec": {"suspend": True, "replicatedJobs": replicated, "futureKnob": {"level": 3}},
    }
    return Sample(manifest, tuple(pods))


SAMPLES = {"JobSet": job_sets()}
