"""Argo Workflows at random: steps of pods, twice in a row and in parallel, with what they need at one time."""

from hypothesis import strategies as st

from tests.core.manifests.pods import (
    Object,
    Pods,
    Sample,
    containers,
    maps,
    metadata,
    requests_of,
    resources,
    tolerations,
    total,
)

_pod = st.fixed_dictionaries(
    {"container": st.fixed_dictionaries({"image": st.just("none"), "resources": resources})},
    optional={
        "sidecars": containers("s", 0, 1),
        "initContainers": containers("i", 0, 2),
        "nodeSelector": maps,
        "tolerations": tolerations,
        "futureKnob": maps,
    },
)


def _asked(template: Object) -> dict[str, int]:
    beside = [template["container"], *template.get("sidecars", ())]
    return requests_of({"spec": {"containers": beside, "initContainers": template.get("initContainers", ())}})


@st.composite
def workflows(draw: st.DrawFn) -> Sample:
    """Held, with groups of steps; some of their pods say themselves where they run."""
    pods = {name: draw(_pod) for name in ("load", "train", "tell")}
    groups: list[list[Object]] = []
    peak: dict[str, int] = {}
    for row in range(draw(st.integers(1, 3))):
        names = draw(st.lists(st.sampled_from(sorted(pods)), min_size=1, max_size=3))
        groups.append([{"name": f"s{row}-{at}", "template": name} for at, name in enumerate(names)])
        together = total(*[_asked(pods[name]) for name in names])
        peak = {name: max(peak.get(name, 0), together.get(name, 0)) for name in sorted({*peak, *together})}
    spec = {
        "suspend": True,
        "entrypoint": "main",
        "futureKnob": {"level": 3},
        "templates": [{"name": "main", "steps": groups}, *({"name": name, **pod} for name, pod in pods.items())],
        **draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "nodeSelector": maps,
                    "tolerations": tolerations,
                    "podMetadata": st.fixed_dictionaries({}, optional={"labels": maps, "annotations": maps}),
                    "parallelism": st.just(9),
                    "podPriorityClassName": st.just("high"),
                },
            )
        ),
    }
    manifest = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": metadata(), "spec": spec}
    return Sample(manifest, (Pods("main", 1, {name: amount for name, amount in peak.items() if amount}),))


SAMPLES = {"Workflow": workflows()}
