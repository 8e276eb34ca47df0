"""Kubeflow's training jobs at random: replica types in any order, and spelled as their operators take them."""

from hypothesis import strategies as st

from tests.core.manifests.pods import Object, Pods, Sample, metadata, requests_of, templates, words

_ONE = {"Master": 1, "Chief": 1, "Launcher": 1}  # of these there is one pod, however often that is said


@st.composite
def training_jobs(draw: st.DrawFn, kind: str, field: str, types: tuple[str, ...], others: bool, version: str) -> Sample:
    """`types` in the order of their pod sets. `others`: letters may be cased otherwise, and there may be more types."""
    replicas: Object = {}
    pods = []
    known = draw(st.lists(st.sampled_from(types), min_size=1, unique=True))
    unknown = draw(st.lists(st.sampled_from(["Eval", "helper"]), unique=True)) if others else []
    for name in (*sorted(known, key=types.index), *sorted(unknown)):
        template = draw(templates)
        count = _ONE.get(name) or draw(st.integers(0, 5))
        stated = {} if count == 1 and draw(st.booleans()) else {"replicas": count}
        spelled = draw(st.sampled_from([name, name, name.lower(), name.upper()])) if others and name in types else name
        replicas[spelled] = {"restartPolicy": "OnFailure", "template": template, **stated}
        pods.append(Pods(name.lower(), count, requests_of(template)))
    shuffled = draw(st.permutations(sorted(replicas)))
    policy = draw(
        st.fixed_dictionaries(
            {"suspend": st.just(True)},
            optional={
                "ttlSecondsAfterFinished": st.just(30),
                "cleanPodPolicy": st.sampled_from(["None", "Running", "All"]),
                "schedulingPolicy": st.fixed_dictionaries({"priorityClass": words}),
            },
        )
    )
    manifest = {
        "apiVersion": f"kubeflow.org/{version}",
        "kind": kind,
        "metadata": metadata(),
        "spec": {"runPolicy": policy, field: {name: replicas[name] for name in shuffled}, "futureKnob": {"level": 3}},
    }
    return Sample(manifest, tuple(pods))


SAMPLES = {
    "TFJob": training_jobs("TFJob", "tfReplicaSpecs", ("Chief", "Master", "PS", "Worker", "Evaluator"), True, "v1"),
    "PyTorchJob": training_jobs("PyTorchJob", "pytorchReplicaSpecs", ("Master", "Worker"), True, "v1"),
    "XGBoostJob": training_jobs("XGBoostJob", "xgbReplicaSpecs", ("Master", "Worker"), True, "v1"),
    "PaddleJob": training_jobs("PaddleJob", "paddleReplicaSpecs", ("Master", "Worker"), True, "v1"),
    "JAXJob": training_jobs("JAXJob", "jaxReplicaSpecs", ("Worker",), True, "v1"),
    "MPIJob": training_jobs("MPIJob", "mpiReplicaSpecs", ("Launcher", "Worker"), False, "v2beta1"),
}
