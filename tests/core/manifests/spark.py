"""SparkApplications at random, with the overheads that Spark's documentation gives for their sizes."""

from hypothesis import strategies as st

from tests.core.manifests.pods import (
    Object,
    Pods,
    Sample,
    containers,
    maps,
    metadata,
    requests_of,
    templates,
    tolerations,
    total,
)

# Memory -> MiB of it, and the overhead Spark adds for a program on the JVM (a tenth) and for Python (four tenths), at
# least 384 MiB.
_MEMORY = {"512m": (512, 384, 384), "1g": (1024, 384, 409), "8G": (8192, 819, 3276), "2048": (2048, 384, 819)}
_OVERHEAD = {"1g": 1024, "384m": 384, "10": 10}
_CORES = {"500m": 500, "1": 1000, "0.5": 500}


@st.composite
def _role(draw: st.DrawFn, name: str, python: bool) -> tuple[Object, dict[str, int]]:
    role: Object = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "labels": maps,
                "annotations": maps,
                "tolerations": tolerations,
                "nodeSelector": maps,
                "sidecars": containers("s", 0, 2),
                "initContainers": containers("r", 0, 2),
                "serviceAccount": st.just("spark"),
                "futureKnob": maps,
            },
        )
    )
    cores = draw(st.integers(1, 4))
    memory = draw(st.sampled_from(list(_MEMORY)))
    heap, on_jvm, beside = _MEMORY[memory]
    role |= {"cores": cores, "memory": memory}
    asked = {"cpu": 1000 * cores, "memory": (heap + (beside if python else on_jvm)) << 20}
    if draw(st.booleans()):
        role["coreRequest"] = draw(st.sampled_from(list(_CORES)))
        asked["cpu"] = _CORES[role["coreRequest"]]
    if draw(st.booleans()):
        role["memoryOverhead"] = draw(st.sampled_from(list(_OVERHEAD)))
        asked["memory"] = (heap + _OVERHEAD[role["memoryOverhead"]]) << 20
    if draw(st.booleans()):
        role["gpu"] = {"name": "nvidia.com/gpu", "quantity": 2}
        asked["nvidia.com/gpu"] = 2
    pod: Object = {"containers": [{}]}
    if draw(st.booleans()):
        template: Object = draw(templates)
        role["template"] = template
        pod = template["spec"]
        first: Object = pod["containers"][0]
        first |= {"name": f"spark-kubernetes-{name}", "resources": {}}
    return role, _beside_spark(pod, role, asked)


def _beside_spark(pod: Object, role: Object, spark: dict[str, int]) -> dict[str, int]:
    """What the whole pod asks for, whose first container asks for what Spark says."""
    beside = [*pod["containers"][1:], *role.get("sidecars", ())]
    first = [*pod.get("initContainers", ()), *role.get("initContainers", ())]
    staying = [container for container in first if container.get("restartPolicy") == "Always"]
    running = total(spark, requests_of({"spec": {"containers": beside, "initContainers": staying}}))
    starting = requests_of({"spec": {"containers": [], "initContainers": first}})
    return {name: max(running.get(name, 0), starting.get(name, 0)) for name in sorted({*running, *starting})}


@st.composite
def spark_applications(draw: st.DrawFn) -> Sample:
    """With selectors for both roles or for each, and executors counted by a field, a property or the default."""
    python = draw(st.booleans())
    driver, asked_by_driver = draw(_role("driver", python))
    executor, asked_by_executor = draw(_role("executor", python))
    spec: Object = {
        "type": "Python" if python else "Scala",
        "mode": "cluster",
        "sparkVersion": "3.5.3",
        "mainApplicationFile": "local:///a.py" if python else "local:///a.jar",
        "driver": driver,
        "executor": executor,
        "suspend": True,
        "futureKnob": {"level": 3},
    }
    if draw(st.booleans()):
        spec["nodeSelector"] = draw(maps)
        for role in (driver, executor):
            role.pop("nodeSelector", None)
    count = draw(st.integers(1, 9))
    if count > 1 or draw(st.booleans()):
        stated = draw(st.booleans())
        executor |= {"instances": count} if stated else {}
        spec |= {} if stated else {"sparkConf": {"spark.executor.instances": str(count)}}
    manifest = {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": metadata(),
        "spec": spec,
    }
    return Sample(manifest, (Pods("driver", 1, asked_by_driver), Pods("executor", count, asked_by_executor)))


SAMPLES = {"SparkApplication": spark_applications()}
