"""A SparkApplication as the core sees it: what its pods will ask for, where starting writes, what its states mean."""

import json
from time import process_time
from typing import Any

import pytest

from admission.jobs import spark_application
from admission.jobs.originals import ANNOTATION
from admission.jobs.spark_memory import BadMemory, mebibytes, quantity, share
from admission.jobs.templates import PermanentProblem
from admission.jobs.workload import compose, equivalent
from admission.model.effects import PodSetInfo
from admission.model.job import JobEnd
from admission.model.workload import PodSet, Toleration
from admission.readers.workload import read_workload
from admission.validation.spark import check_spark_application
from admission.world import spark_operator
from tests.core.test_jobs import merged

Object = dict[str, Any]
MIB = 2**20
NOW = "2026-03-01T10:00:00Z"


def application(driver: Object | None = None, executor: Object | None = None, **spec: Any) -> Object:
    """Held, with one driver and three executors of two cores and 2 GiB heap."""
    return {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {"name": "pi", "namespace": "lab", "uid": "u-1", "labels": {"kueue.x-k8s.io/queue-name": "main"}},
        "spec": {
            "type": "Scala",
            "mode": "cluster",
            "sparkVersion": "3.5.3",
            "mainApplicationFile": "local:///pi.jar",
            "suspend": True,
            "driver": {"cores": 1, "memory": "1g", **(driver or {})},
            "executor": {"cores": 2, "memory": "2g", "instances": 3, **(executor or {})},
            **spec,
        },
    }


def pods(manifest: Object) -> tuple[PodSet, ...]:
    return spark_application.read(manifest).pod_sets


def driver_of(manifest: Object) -> Object:
    return dict(pods(manifest)[0].requests)


def executor_of(manifest: Object) -> Object:
    return dict(pods(manifest)[1].requests)


def told(manifest: Object, state: str, **status: Any) -> Object:
    return {**manifest, "status": {"applicationState": {"state": state}, **status}}


def info(name: str, count: int = 1, **fields: Any) -> PodSetInfo:
    given: Object = {"node_selector": {}, "tolerations": (), "labels": {}, "annotations": {}, **fields}
    return PodSetInfo(name, count, **given)


def started(manifest: Object, **fields: Any) -> Object:
    patch = spark_application.start(manifest, [info("driver", **fields), info("executor", 3, **fields)])
    result: Object = merged(manifest, patch)
    return result


def stopped(manifest: Object, workload: Object | None = None) -> Object:
    result: Object = merged(manifest, spark_application.restore(manifest, workload))
    return result


# what it asks for


def test_a_driver_and_its_executors_ask_for_heap_and_what_spark_adds_to_it() -> None:
    driver, executor = pods(application())
    assert (driver.name, driver.count, executor.name, executor.count) == ("driver", 1, "executor", 3)
    assert driver.requests == {"cpu": 1000, "memory": (1024 + 384) * MIB}
    assert executor.requests == {"cpu": 2000, "memory": (2048 + 384) * MIB}


@pytest.mark.parametrize(
    ("file", "more"), [("local:///a.jar", 819), ("local:///a.py", 3276), ("s3a://jobs/a.R", 3276), (None, 3276)]
)
def test_programs_beside_the_jvm_get_four_tenths_more_instead_of_one(file: str | None, more: int) -> None:
    big = application(executor={"memory": "8g"}, mainApplicationFile=file, type="Python")
    assert executor_of(big)["memory"] == (8192 + more) * MIB


def test_overhead_that_is_stated_counts_whatever_the_factor() -> None:
    stated = application(driver={"memoryOverhead": "1g"}, executor={"memoryOverhead": "10"}, memoryOverheadFactor="0.9")
    assert driver_of(stated)["memory"] == 2048 * MIB
    assert executor_of(stated)["memory"] == 2058 * MIB


@pytest.mark.parametrize(
    ("conf", "driver", "executor"),
    [
        ({}, 512, 1024),
        ({"spark.kubernetes.memoryOverheadFactor": "1.0"}, 1024, 2048),
        ({"spark.driver.memoryOverheadFactor": "0.75"}, 768, 1024),
        ({"spark.executor.memoryOverhead": "100m", "spark.driver.memoryOverhead": "1m"}, 1, 100),
        ({"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "3g"}, 512, 1024 + 3072),
        ({"spark.memory.offHeap.size": "3g"}, 512, 1024),
    ],
)
def test_properties_count_where_no_field_says_more(conf: Object, driver: int, executor: int) -> None:
    found = application(sparkConf=conf, memoryOverheadFactor="0.5")
    assert driver_of(found)["memory"] == (1024 + driver) * MIB
    assert executor_of(found)["memory"] == (2048 + executor) * MIB


def test_a_field_is_stronger_than_the_property_of_the_same_meaning() -> None:
    conf = {"spark.executor.memory": "9g", "spark.executor.cores": "9", "spark.executor.instances": "9"}
    assert pods(application(sparkConf=conf)) == pods(application())


@pytest.mark.parametrize(
    ("role", "cpu"),
    [
        ({"cores": 4}, 4000),
        ({"cores": 4, "coreRequest": "1500m"}, 1500),
        ({"cores": 4, "coreLimit": "8"}, 4000),
        ({"cores": None, "coreLimit": "1200m"}, 1000),
    ],
)
def test_the_request_is_told_by_core_request_else_cores_and_never_by_the_limit(role: Object, cpu: int) -> None:
    assert executor_of(application(executor=role))["cpu"] == cpu


def test_devices_count_by_the_field_and_by_sparks_own_resources() -> None:
    conf = {"spark.executor.resource.gpu.amount": "2", "spark.executor.resource.gpu.vendor": "amd.com"}
    both = application(executor={"gpu": {"name": "nvidia.com/gpu", "quantity": 4}}, sparkConf=conf)
    assert executor_of(both) | {"memory": 0, "cpu": 0} == {"memory": 0, "cpu": 0, "nvidia.com/gpu": 4, "amd.com/gpu": 2}


def test_sidecars_and_init_containers_count_as_in_any_pod() -> None:
    def asks(name: str, cpu: str, **fields: Any) -> Object:
        return {"name": name, "image": "none", "resources": {"requests": {"cpu": cpu}}, **fields}

    found = application(driver={"sidecars": [asks("logs", "500m")], "initContainers": [asks("fetch", "4")]})
    assert driver_of(found)["cpu"] == 4000
    found["spec"]["driver"]["initContainers"][0]["restartPolicy"] = "Always"
    assert driver_of(found)["cpu"] == 5500


def test_a_roles_own_template_is_what_spark_starts_from() -> None:
    template = {
        "metadata": {"labels": {"team": "a", "tier": "x"}},
        "spec": {
            "containers": [
                {"name": "mesh", "resources": {"requests": {"cpu": "250m"}}},
                {"name": "spark-kubernetes-driver", "resources": {"requests": {"cpu": "9", "example.com/nic": "1"}}},
            ],
            "nodeSelector": {"zone": "b", "disk": "ssd"},
        },
    }
    found = application(driver={"template": template, "labels": {"tier": "y"}, "nodeSelector": {"zone": "c"}})
    assert driver_of(found) == {"cpu": 1250, "memory": 1408 * MIB, "example.com/nic": 1}
    written = spark_application.pod_sets(found)[0]["template"]
    assert written["metadata"]["labels"] == {"team": "a", "tier": "y"}
    assert written["spec"]["nodeSelector"] == {"zone": "c", "disk": "ssd"}


def test_volumes_are_mounted_unless_spark_mounts_them_itself() -> None:
    volumes: list[Object] = [{"name": name, "emptyDir": {}} for name in ("data", "spark-local-dir-1", "unused")]
    mounts = [{"name": name, "mountPath": "/x"} for name in ("data", "spark-local-dir-1", "absent")]
    pod = spark_application.pod_sets(application(executor={"volumeMounts": mounts}, volumes=volumes))[1]["template"]
    assert pod["spec"]["volumes"] == volumes[:1]
    assert pod["spec"]["containers"][0]["volumeMounts"] == mounts[:1]


def test_executors_nobody_counted_are_one() -> None:
    alone = application()
    del alone["spec"]["executor"]["instances"]
    assert pods(alone)[1].count == 1
    assert pods({**alone, "spec": {**alone["spec"], "sparkConf": {"spark.executor.instances": "7"}}})[1].count == 7


def test_executors_that_come_and_go_count_at_their_most_and_are_ready_at_their_least() -> None:
    dynamic = application(
        dynamicAllocation={"enabled": True, "initialExecutors": 2, "minExecutors": 1, "maxExecutors": 50}
    )
    assert pods(dynamic)[1].count == 50
    assert spark_application.read(told(dynamic, "RUNNING", executorState={"e1": "RUNNING"})).pods_ready
    by_property = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.maxExecutors": "20"}
    assert pods(application(sparkConf=by_property))[1].count == 20


@pytest.mark.parametrize(
    ("stated", "mib"),
    [("1g", 1024), ("2G", 2048), ("512m", 512), ("1500k", 1), ("3000", 3000), ("1tb", 2**20), ("0", 0)],
)
def test_memory_is_read_as_spark_reads_it(stated: str, mib: int) -> None:
    assert mebibytes(stated) == mib


@pytest.mark.parametrize("stated", ["4Gi", "1.5g", "", "g", "-1g", "<memory>", "1e3m", "9" * 19])
def test_memory_that_spark_would_refuse_is_told(stated: str) -> None:
    with pytest.raises(BadMemory):
        mebibytes(stated)


def test_overhead_is_worked_out_in_doubles_as_spark_does() -> None:
    assert share("0.29", 100) == 28
    assert share("0.4", 1024) == 409
    assert (quantity("2g"), quantity("512mb"), quantity("4Gi"), quantity("1048576")) == (
        "2Gi",
        "512Mi",
        "4Gi",
        "1048576",
    )


def test_a_limit_of_memory_of_its_own_replaces_sparks() -> None:
    pod = spark_application.pod_sets(application(driver={"memoryLimit": "4g", "coreLimit": "1200m"}))[0]["template"]
    resources = pod["spec"]["containers"][0]["resources"]
    assert resources == {"requests": {"cpu": "1", "memory": "1408Mi"}, "limits": {"cpu": "1200m", "memory": "4Gi"}}


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"executor": {"memory": "4Gi"}}, "spec.executor.memory"),
        ({"driver": {"memoryOverhead": "1.5g"}}, "spec.driver.memoryOverhead"),
        ({"driver": {"coreRequest": "<cores>"}}, "spec.driver.coreRequest"),
        ({"executor": {"instances": "$N"}}, "spec.executor.instances"),
        ({"memoryOverheadFactor": "a lot"}, "spec.memoryOverheadFactor"),
        ({"sparkConf": {"spark.driver.memoryOverhead": "1 g"}}, "spec.sparkConf[spark.driver.memoryOverhead]"),
        (
            {"sparkConf": {"spark.dynamicAllocation.enabled": "true"}},
            "spec.sparkConf[spark.dynamicAllocation.maxExecutors]",
        ),
        ({"mode": "client"}, "spec.mode"),
    ],
)
def test_what_cannot_be_counted_is_refused_and_never_queued(spec: Object, path: str) -> None:
    wrong = application(**spec)
    assert spark_application.read(wrong).problem.startswith(f"{path}: ")
    assert [error.path for error in check_spark_application(wrong)] == [path]


def test_dynamic_allocation_and_client_mode_are_refused_in_kueues_words() -> None:
    wrong = application(mode="client", dynamicAllocation={"enabled": True})
    mode, dynamic = check_spark_application(wrong)
    assert str(mode) == 'spec.mode: Invalid value: "client": only Cluster mode is supported for a kueue managed job'
    assert str(dynamic) == (
        "spec.dynamicAllocation.enabled: Invalid value: true: a kueue managed job can use dynamicAllocation only when "
        "the ElasticJobsViaWorkloadSlices feature gate is on and the job is an elastic job"
    )
    assert check_spark_application(application(dynamicAllocation={"enabled": False})) == []


PYTHON = "local:///a.py"
GPUS = {f"spark.executor.resource.gpu.{name}": value for name, value in (("amount", "2"), ("vendor", "nvidia.com"))}
BESIDE_THE_HEAP = {"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "3g"}
ALL_8G: Object = {
    "driver": {"memory": "8g"},
    "executor": {"cores": None, "memory": "8g"},
    "memoryOverheadFactor": "0.29",
}
MESH = {"name": "mesh", "image": "x", "resources": {"requests": {"cpu": "250m"}}}
NINE = {"name": "spark-kubernetes-driver", "resources": {"requests": {"cpu": "9"}}}


@pytest.mark.parametrize(
    ("spec", "driver", "executor"),
    [
        ({}, (1000, 1408), (2000, 2432)),
        ({"executor": {"memory": "8g"}, "mainApplicationFile": PYTHON}, (1000, 1433), (2000, 11468)),
        (
            {
                "driver": {
                    "cores": 2,
                    "coreRequest": "1500m",
                    "coreLimit": "4",
                    "memory": "1500m",
                    "memoryOverhead": "1g",
                }
            },
            (1500, 2524),
            (2000, 2432),
        ),
        (
            {**ALL_8G, "sparkConf": {"spark.driver.memoryOverheadFactor": "0.75"}, "mainApplicationFile": PYTHON},
            (1000, 14336),
            (1000, 10567),
        ),
        ({**ALL_8G, "sparkConf": {"spark.kubernetes.memoryOverheadFactor": "0.5"}}, (1000, 12288), (1000, 12288)),
        (
            {
                "driver": {"cores": None, "template": {"spec": {"containers": [MESH, NINE]}}},
                "executor": {"cores": None},
                "sparkConf": {
                    "spark.driver.cores": "3",
                    "spark.executor.pyspark.memory": "1g",
                    **BESIDE_THE_HEAP,
                    **GPUS,
                },
                "mainApplicationFile": PYTHON,
            },
            (3250, 1433),
            (1000, 6963),
        ),
    ],
)
def test_spark_3_5_3_itself_asks_for_as_much(spec: Object, driver: tuple[int, int], executor: tuple[int, int]) -> None:
    """What its spark-submit, and a driver, were seen to make on a real API server."""
    found = application(**spec)
    for (cpu, mib), pod_set in zip((driver, executor), pods(found), strict=True):
        assert (pod_set.requests["cpu"], pod_set.requests["memory"]) == (cpu, mib * MIB)


# start and stop


def test_starting_writes_into_the_roles_and_never_makes_a_template() -> None:
    running = started(application(), node_selector={"pool": "a"}, labels={"l": "1"}, annotations={"n": "1"})
    for role in ("driver", "executor"):
        own = running["spec"][role]
        assert (own["nodeSelector"], own["labels"], own["annotations"]) == ({"pool": "a"}, {"l": "1"}, {"n": "1"})
        assert "template" not in own
    assert running["spec"]["suspend"] is False


def test_a_selector_for_the_whole_application_moves_into_the_roles_and_back() -> None:
    """The operator refuses one that is stated beside those of the roles."""
    held = application(nodeSelector={"disk": "ssd"})
    running = started(held, node_selector={"pool": "a"})
    assert "nodeSelector" not in running["spec"]
    assert running["spec"]["driver"]["nodeSelector"] == {"disk": "ssd", "pool": "a"}
    assert ANNOTATION in running["metadata"]["annotations"]
    assert stopped(running) == held | {"metadata": stopped(running)["metadata"]}
    assert not stopped(running)["metadata"].get("annotations")


def test_a_selector_that_says_otherwise_keeps_it_from_starting() -> None:
    with pytest.raises(PermanentProblem, match=r"conflict for spec\.nodeSelector"):
        started(application(nodeSelector={"pool": "b"}), node_selector={"pool": "a"})


def test_started_elsewhere_after_an_admission_that_was_never_undone_nothing_of_it_stays() -> None:
    held = application(nodeSelector={"disk": "ssd"})
    once = started(held, node_selector={"pool": "a"}, tolerations=(Toleration("x", "Exists", "", ""),))
    again = merged(once, {"spec": {"suspend": True}})
    assert started(again, node_selector={"pool": "b"}) == started(held, node_selector={"pool": "b"})


def test_an_application_that_kueue_started_is_restored_from_its_workload() -> None:
    held = application(driver={"nodeSelector": {"disk": "ssd"}})
    workload = compose("SparkApplication", held, "w")
    marked = {"kueue.x-k8s.io/workload": "w"}
    running = started(held, node_selector={"pool": "a"}, annotations=marked)
    del running["metadata"]["annotations"][ANNOTATION]
    back = stopped(running, workload)
    assert back["spec"] == held["spec"]


def test_one_that_ran_without_being_asked_is_only_held() -> None:
    runs = application(nodeSelector={"disk": "ssd"}, suspend=False)
    assert stopped(runs, compose("SparkApplication", runs, "w"))["spec"] == {**runs["spec"], "suspend": True}


def test_a_note_that_people_changed_moves_nothing_but_the_spec() -> None:
    running = started(application(), node_selector={"pool": "a"})
    for note in ("{", "[]", '[[["metadata","name"],"x"]]', '[[["spec",0],1],3,[["spec","driver","labels"],{"a":"b"}]]'):
        running["metadata"]["annotations"][ANNOTATION] = note
        assert stopped(running)["metadata"]["name"] == "pi"


def test_a_note_that_people_wrote_changes_nothing_that_is_counted() -> None:
    """Neither behind the queue's back when it starts, nor so that it could not be sent."""
    for note in ('[[["spec","driver","cores"],64]]', r'[[["spec","nodeSelector"],{"a":"\ud800"}]]'):
        held = application()
        held["metadata"]["annotations"] = {ANNOTATION: note}
        running = started(held, node_selector={"pool": "a"})
        assert "ud800" not in json.dumps(running)
        assert running["spec"]["driver"]["cores"] == held["spec"]["driver"]["cores"]
        assert "ud800" not in json.dumps(stopped({**held, "spec": {**held["spec"], "suspend": False}})["spec"])


def test_while_it_runs_its_workload_still_fits() -> None:
    held = application(nodeSelector={"disk": "ssd"})
    workload = read_workload(compose("SparkApplication", held, "w"))
    assert equivalent(spark_application.read(started(held, node_selector={"pool": "a"})), workload)


# what its states mean


@pytest.mark.parametrize(
    ("state", "active"),
    [
        ("", False),
        ("SUBMITTED", True),
        ("RUNNING", True),
        ("SUCCEEDING", True),
        ("FAILING", True),
        ("INVALIDATING", True),
        ("PENDING_RERUN", True),
        ("SUSPENDING", True),
        ("SUSPENDED", False),
        ("RESUMING", False),
        ("UNKNOWN", True),
    ],
)
def test_it_has_pods_until_the_operator_says_that_they_are_gone(state: str, active: bool) -> None:
    read = spark_application.read(told(application(), state))
    assert (read.active, read.end) == (active, None)


def test_it_ends_as_its_state_says() -> None:
    failed = {"applicationState": {"state": "FAILED", "errorMessage": "driver died"}}
    assert spark_application.read(told(application(), "COMPLETED")).end == JobEnd(True, "")
    assert spark_application.read({**application(), "status": failed}).end == JobEnd(False, "driver died")


@pytest.mark.parametrize(
    ("policy", "ended"),
    [
        ({"type": "Never"}, True),
        ({"type": "OnFailure", "onSubmissionFailureRetries": 2}, False),
        ({"type": "OnFailure", "onSubmissionFailureRetries": 1}, True),
        ({"type": "OnFailure"}, True),
        ({"type": "Always"}, False),
    ],
)
def test_a_failed_submission_is_no_end_while_the_operator_tries_again(policy: Object, ended: bool) -> None:
    read = spark_application.read(told(application(restartPolicy=policy), "SUBMISSION_FAILED", submissionAttempts=2))
    assert (read.end is not None) is ended


def test_it_is_ready_when_all_its_executors_are_up() -> None:
    up = {"e1": "RUNNING", "e2": "COMPLETED"}
    for third, ready in (("PENDING", False), ("FAILED", False), ("RUNNING", True)):
        found = told(application(), "RUNNING", executorState={**up, "e3": third})
        assert spark_application.read(found).pods_ready is ready
    assert not spark_application.read(
        told(application(), "SUBMITTED", executorState={**up, "e3": "RUNNING"})
    ).pods_ready


def test_more_executors_than_the_operator_keeps_track_of_are_ready_when_those_are() -> None:
    many = application(executor={"instances": 1500})
    states = {f"e{number}": "RUNNING" for number in range(1000)}
    assert spark_application.read(told(many, "RUNNING", executorState=states)).pods_ready


def test_what_the_operator_writes_means_what_it_did() -> None:
    held = application()
    runs = {**started(held), "status": merged({}, spark_operator.running(started(held), NOW))}
    read = spark_application.read(runs)
    assert (read.active, read.pods_ready, read.end) == (True, True, None)
    gone = {**held, "status": merged(runs["status"], spark_operator.stopped(runs, NOW))}
    assert not spark_application.read(gone).active
    assert gone["status"]["driverInfo"] == {}
    ended = {**runs, "status": merged(runs["status"], spark_operator.finished(runs, NOW))}
    assert spark_application.read(ended).end == JobEnd(True, "")
    lost = {**runs, "status": merged(runs["status"], spark_operator.failed(runs, NOW, "driver died"))}
    assert spark_application.read(lost).end == JobEnd(False, "driver died")


def test_a_child_of_a_schedule_is_a_job_of_its_own() -> None:
    """Its owner does not control it, and the schedule's labels are its own."""
    child = application()
    owner = {"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "ScheduledSparkApplication", "name": "n", "uid": "s"}
    child["metadata"]["ownerReferences"] = [{**owner, "blockOwnerDeletion": True}]
    read = spark_application.read(child)
    assert (read.owner, read.queue_name) == (None, "main")


def test_many_volumes_and_containers_keep_nobody_busy() -> None:
    named = [{"name": f"v{at}"} for at in range(12_000)]
    beside = {"template": {"spec": {"containers": named}}, "sidecars": named, "volumeMounts": named}
    began = process_time()
    read = spark_application.read(application(driver=beside, volumes=named))
    assert read.problem == ""
    assert process_time() - began < 1
