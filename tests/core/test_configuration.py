"""Kueue's Configuration: every field is understood, defaulted and judged as Kueue does, in both versions."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from admission.configuration import Process, Reading, read
from admission.model.configuration import (
    DEFAULTS,
    FINAL_SHARE,
    INITIAL_SHARE,
    AdmissionFairSharing,
    FairSharing,
    Metrics,
    Resources,
    Retention,
    Transformation,
    WaitForPodsReady,
)
from admission.model.gates import FIXED, KEPT, LACKING, NEUTRAL


def reading(text: str, version: str = "v1beta2", **flags: str) -> Reading:
    head = {"apiVersion": f"config.kueue.x-k8s.io/{version}", "kind": "Configuration"}
    return read({**head, **(yaml.safe_load(text) or {})}, **flags)


def good(text: str, version: str = "v1beta2", **flags: str) -> Reading:
    found = reading(text, version, **flags)
    assert not found.problems
    return found


def complaints(text: str, version: str = "v1beta2", **flags: str) -> list[str]:
    return [str(problem) for problem in reading(text, version, **flags).problems]


def notes(text: str, version: str = "v1beta2") -> list[str]:
    return [str(note) for note in good(text, version).notes]


def test_no_file_and_an_empty_one_mean_the_defaults() -> None:
    assert read(None) == good("{}") == Reading(DEFAULTS, Process())


def test_null_stands_for_absent() -> None:
    assert good("{waitForPodsReady: null, fairSharing: null, featureGates: null, namespace: null}") == read(None)


def test_what_changes_decisions_reaches_the_core() -> None:
    core = good("""
        waitForPodsReady:
          timeout: 10m
          blockAdmission: true
          recoveryTimeout: 90s
          requeuingStrategy: {timestamp: Creation, backoffLimitCount: 3, backoffBaseSeconds: 1, backoffMaxSeconds: 9}
        fairSharing: {preemptionStrategies: [LessThanInitialShare]}
        admissionFairSharing: {usageHalfLifeTime: 1h, usageSamplingInterval: 1m, resourceWeights: {cpu: 0.1, memory: 0}}
        resources:
          excludeResourcePrefixes: [acme.io/]
          transformations:
            - {input: acme.io/mig, strategy: Replace, outputs: {acme.io/gpu: 250m, acme.io/mem: 5Gi}}
            - {input: cpu, multiplyBy: memory, outputs: {acme.io/credit: 3}}
        objectRetentionPolicies: {workloads: {afterFinished: 0s, afterDeactivatedByKueue: 2h}}
        integrations: {labelKeysToCopy: [team, cost]}
        metrics: {enableClusterQueueResources: true, localQueueMetrics: {enable: false}}
        featureGates: {PriorityBoost: true, PartialAdmission: false}
    """).core
    assert core.wait_for_pods_ready == WaitForPodsReady(600, 90, True, "Creation", 3, 1, 9)
    assert core.fair_sharing == FairSharing((INITIAL_SHARE,))
    assert core.admission_fair_sharing == AdmissionFairSharing(
        3600, 60, {"cpu": Fraction(1, 10), "memory": Fraction(0)}
    )
    assert core.resources == Resources(
        ("acme.io/",),
        (
            Transformation("acme.io/mig", {"acme.io/gpu": Fraction(1, 4), "acme.io/mem": Fraction(5 * 2**30)}, True),
            Transformation("cpu", {"acme.io/credit": Fraction(3)}, multiply_by="memory"),
        ),
    )
    assert core.retention == Retention(after_finished=0, after_deactivated=7200)
    assert core.label_keys_to_copy == ("team", "cost")
    assert core.metrics == Metrics(cluster_queue_resources=True, local_queues=None)
    assert core.gates["PriorityBoost"]
    assert not core.gates["PartialAdmission"]


def test_recovery_may_take_as_long_as_the_start_and_half_a_section_keeps_the_other_defaults() -> None:
    core = good("{waitForPodsReady: {timeout: 1m}, admissionFairSharing: {}}").core
    assert core.wait_for_pods_ready == WaitForPodsReady(timeout=60, recovery_timeout=60)
    assert core.admission_fair_sharing == AdmissionFairSharing(0, 300)


def test_ignoring_what_no_queue_declares() -> None:
    assert good("resources: {quotaCheckStrategy: IgnoreUndeclared}").core.resources.ignore_undeclared


def test_certificates_of_others_are_where_kueue_finds_them() -> None:
    told = good("internalCertManagement: {enable: false}").process
    assert told.webhook_cert_dir == "/tmp/k8s-webhook-server/serving-certs"
    assert told.metrics_cert_dir == "/etc/kueue/metrics/certs"
    assert good("").process.metrics_cert_dir is None


def test_metrics_may_be_plain_where_an_address_says_so() -> None:
    assert good("metrics: {bindAddress: 'http://:8080'}").process.metrics_bind == "http://:8080"


def test_what_the_processes_are_told() -> None:
    assert good("""
        leaderElection: {leaderElect: false, leaseDuration: 30s, renewDeadline: 20s, retryPeriod: 1s,
                         resourceName: office, resourceNamespace: home, resourceLock: leases}
        clientConnection: {qps: 50, burst: 100}
        health: {healthProbeBindAddress: ":1", readinessEndpointName: readyz, livenessEndpointName: healthz}
        metrics: {bindAddress: "0"}
        webhook: {host: 10.0.0.1, port: 1234, certDir: /certs}
        visibilityServer: {bindAddress: "::", bindPort: 9000}
        tls: {minVersion: VersionTLS13}
    """).process == Process(
        leader_elect=False,
        lease_name="office",
        lease_namespace="home",
        lease_duration=30,
        renew_deadline=20,
        retry_period=1,
        requests_per_second=50,
        request_burst=100,
        health_bind=":1",
        metrics_bind="0",
        webhook_host="10.0.0.1",
        webhook_port=1234,
        webhook_cert_dir="/certs",
        visibility_host="::",
        visibility_port=9000,
        tls_min_version="VersionTLS13",
    )


def test_certificates_are_files_where_kueue_does_not_make_them_itself() -> None:
    assert good("internalCertManagement: {enable: true}").process.webhook_cert_dir is None
    assert good("internalCertManagement: {enable: false}").process.webhook_cert_dir == (
        "/tmp/k8s-webhook-server/serving-certs"
    )


def test_the_system_is_never_managed_by_default_whatever_our_namespace() -> None:
    managed = good("namespace: lockgate").core.managed_jobs_namespace_selector
    assert [managed.matches({"kubernetes.io/metadata.name": name}) for name in ("lockgate", "kube-system", "lab")] == [
        False,
        False,
        True,
    ]


def test_only_listed_frameworks_are_managed_and_those_we_lack_are_told() -> None:
    text = "integrations: {frameworks: [batch/job, pod, kubeflow.org/pytorchjob]}"
    assert good(text).core.frameworks == ("Job", "PyTorchJob")
    assert good("{}").core.frameworks is None
    assert notes(text) == [
        'integrations.frameworks[1]: "pod" is not managed by this version: what is made of it is not queued'
    ]


class TestV1beta1:
    def test_waiting_for_pods_and_fair_sharing_are_off_until_enabled(self) -> None:
        core = good("{waitForPodsReady: {timeout: 1m}, fairSharing: {}}", "v1beta1").core
        assert core.wait_for_pods_ready is None
        assert core.fair_sharing is None
        assert good("{}", "v1beta1").core.wait_for_pods_ready is None

    def test_enabled_they_have_defaults_of_their_own(self) -> None:
        core = good("{waitForPodsReady: {enable: true}, fairSharing: {enable: true}}", "v1beta1").core
        assert core.wait_for_pods_ready == WaitForPodsReady(timeout=300, recovery_timeout=300, block_admission=True)
        assert core.fair_sharing == FairSharing((FINAL_SHARE, INITIAL_SHARE))

    def test_what_has_gone_is_read_and_told(self) -> None:
        said = notes(
            """
            queueVisibility: {updateIntervalSeconds: 5, clusterQueues: {maxCount: 10}}
            integrations: {podOptions: {namespaceSelector: {matchLabels: {a: b}}, podSelector: {}}}
            """,
            "v1beta1",
        )
        assert [note.partition(":")[0] for note in said] == ["integrations.podOptions", "queueVisibility"]

    @pytest.mark.parametrize(
        "text",
        [
            "visibilityServer: {}",
            "resources: {quotaCheckStrategy: BlockUndeclared}",
            "multiKueue: {clusterProfile: {}}",
            "metrics: {customLabels: [{name: a, sourceKind: Cohort}]}",
        ],
    )
    def test_what_came_later_is_unknown(self, text: str) -> None:
        assert any("is not a field of" in complaint for complaint in complaints(text, "v1beta1"))
        assert good(text).problems == ()

    def test_its_own_fields_are_unknown_in_v1beta2(self) -> None:
        assert [
            complaint.partition(": ")[0]
            for complaint in complaints("{queueVisibility: {}, waitForPodsReady: {enable: true}}")
        ] == [
            "queueVisibility",
            "waitForPodsReady.enable",
        ]


REFUSED = [
    ("namespace: 5", "namespace: 5 is not a string: quote it"),
    ("manageJobsWithoutQueueName: 1", "manageJobsWithoutQueueName: 1 is not a boolean: write true or false"),
    ("managedJobsNamespaceSelector: {}", "managedJobsNamespaceSelector: matches the namespace kube-system"),
    (
        "managedJobsNamespaceSelector: {matchExpressions: [{key: a, operator: Inn}]}",
        'matchExpressions[0].operator: "Inn" is unknown: did you mean In?',
    ),
    (
        "managedJobsNamespaceSelector: {matchExpressions: [{key: a, operator: In}]}",
        "matchExpressions[0]: values",
    ),
    ("managedJobsNamespaceSelector: {matchLabels: {a: '-'}}", 'matchLabels.a: "-" can\'t be matched'),
    ("waitForPodsReady: 5", "waitForPodsReady: 5 is not a mapping: write its fields below it"),
    ("waitForPodsReady: {timeout: 5}", "waitForPodsReady.timeout: 5 is not a duration"),
    ("waitForPodsReady: {recoveryTimeout: -1s}", 'waitForPodsReady.recoveryTimeout: "-1s" is negative'),
    ("waitForPodsReady: {requeuingStrategy: {timestamp: eviction}}", "did you mean Eviction?"),
    ("waitForPodsReady: {requeuingStrategy: {backoffLimitCount: -1}}", "backoffLimitCount: -1 is out of bounds"),
    ("waitForPodsReady: {requeuingStrategy: {backoffMaxSeconds: 1.5}}", "1.5 is not a whole number"),
    ("waitForPodsReady: {requeuingStrategy: {backoffBaseSeconds: true}}", "true is not a whole number"),
    ("fairSharing: {}", "fairSharing.preemptionStrategies: is missing"),
    (f"fairSharing: {{preemptionStrategies: [{INITIAL_SHARE}, {FINAL_SHARE}]}}", "can't be followed"),
    ("admissionFairSharing: {usageHalfLifeTime: -1s}", "is negative"),
    ("admissionFairSharing: {resourceWeights: {cpu: -1}}", "admissionFairSharing.resourceWeights.cpu: -1 is negative"),
    ("admissionFairSharing: {resourceWeights: {cpu: '1'}}", 'resourceWeights.cpu: "1" is not a number'),
    ("resources: {quotaCheckStrategy: IgnoreUndeclaered}", "did you mean IgnoreUndeclared?"),
    (
        "resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [a]}",
        "goes ill with excludeResourcePrefixes",
    ),
    ("resources: {transformations: [{input: a}, {input: a}]}", 'transformations[1].input: "a" is transformed twice'),
    ("resources: {transformations: [{outputs: {b: 1}}]}", "resources.transformations[0].input: is missing"),
    ("resources: {transformations: [{input: a, strategy: Keep}]}", 'strategy: "Keep" is unknown: write Retain or'),
    ("resources: {transformations: [{input: a, outputs: {b: x}}]}", 'outputs.b: "x" is not a quantity'),
    ("resources: {excludeResourcePrefixes: a}", 'excludeResourcePrefixes: "a" is not a list'),
    ("resources: {excludeResourcePrefixes: [1]}", "excludeResourcePrefixes[0]: 1 is not a string"),
    ("resources: {deviceClassMappings: [{name: a, deviceClassNames: []}]}", "deviceClassNames: has 0 entries"),
    (
        "resources: {deviceClassMappings: [{name: a, deviceClassNames: [c]}, {name: b, deviceClassNames: [c]}]}",
        'deviceClassMappings[1].deviceClassNames[0]: "c" is mapped to a already',
    ),
    (
        "resources: {deviceClassMappings: [{name: a, deviceClassNames: [c], sources: [{}]}]}",
        "sources[0]: has neither counter nor capacity",
    ),
    ("objectRetentionPolicies: {workloads: {afterFinished: -1h}}", "workloads.afterFinished"),
    (
        "integrations: {frameworks: [batch/jobs]}",
        'frameworks[0]: "batch/jobs" is not a framework: did you mean batch/job',
    ),
    ("integrations: {frameworks: [batch/job, batch/job]}", 'frameworks[1]: "batch/job" is listed twice'),
    ("integrations: {externalFrameworks: [Foo]}", 'externalFrameworks[0]: "Foo" is not a kind'),
    ("metrics: {customLabels: [{name: 1}]}", "customLabels[0].name: 1 is not a string"),
    ("metrics: {customLabels: [{name: a-b}]}", 'customLabels[0].name: "a-b" is not a name'),
    ("metrics: {customLabels: [{name: a}, {name: a}]}", 'customLabels[1].name: "a" is taken'),
    ("metrics: {customLabels: [{name: a, sourceLabelKey: b, sourceAnnotationKey: c}]}", "keep one of them"),
    ("metrics: {customLabels: [{name: a, sourceKind: Workload}]}", "between 1 and 12 for a Workload"),
    (
        "metrics: {customLabels: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}, {name: f}, {name: g}]}",
        "has 7 entries for ClusterQueue: 6 at most",
    ),
    ("metrics: {bindAddress: 'https://:8443'}", 'metrics.bindAddress: "https://:8443" is not an address'),
    ("health: {healthProbeBindAddress: 'http://:1'}", '"http://:1" is not an address'),
    ("metrics: {bindAddress: here}", 'metrics.bindAddress: "here" is not an address'),
    ("webhook: {port: 0}", "webhook.port: 0 is out of bounds: write a whole number between 1 and 65535"),
    ("leaderElection: {leaseDuration: 5s}", "leaderElection.leaseDuration: 5s is not longer than renewDeadline 10s"),
    ("leaderElection: {resourceLock: endpoints}", "leaderElection.resourceLock"),
    ("clientConnection: {qps: 0}", "clientConnection.qps: is 0"),
    ("clientConnection: {qps: many}", 'clientConnection.qps: "many" is not a number'),
    ("internalCertManagement: {webhookSecretName: A_b}", 'webhookSecretName: "A_b" is not a name'),
    ("visibilityServer: {bindAddress: nowhere}", 'visibilityServer.bindAddress: "nowhere" is not an IP address'),
    ("visibilityServer: {bindPort: 65536}", "visibilityServer.bindPort: 65536 is out of bounds"),
    ("tls: {minVersion: VersionTLS11}", 'tls.minVersion: "VersionTLS11" is unknown or too old'),
    ("tls: {minVersion: VersionTLS13, cipherSuites: [TLS_AES_128_GCM_SHA256]}", "tls.cipherSuites: can't be chosen"),
    ("multiKueue: {gcInterval: -1m}", "multiKueue.gcInterval"),
    ("multiKueue: {origin: '-'}", "multiKueue.origin"),
    ("multiKueue: {incrementalDispatcherConfig: {stepSize: 1}}", "goes ill with"),
    ("multiKueue: {externalFrameworks: [{name: Foo.v1.acme.io}, {name: Foo.v1.acme.io}]}", "is listed twice"),
    ("controller: {groupKindConcurrency: {Job.batch: many}}", "controller.groupKindConcurrency.Job.batch"),
    ("featureGates: {PartialAdmision: true}", "is not a feature gate: did you mean PartialAdmission?"),
    ("featureGates: {PartialAdmission: 'true'}", 'featureGates.PartialAdmission: "true" is not a boolean'),
    (
        "featureGates: {FlavorFungibility: false, FlavorFungibilityPreserveScanProgress: true}",
        "featureGates.FlavorFungibilityPreserveScanProgress: needs FlavorFungibility, which is off",
    ),
    ("featureGates: {AllAlpha: true}", "name those that are meant"),
    ("wait: 1", "wait: is not a field of a Configuration: remove it"),
]


@pytest.mark.parametrize(("text", "part"), REFUSED, ids=[text[:60] for text, _ in REFUSED])
def test_what_kueue_refuses_is_refused_with_field_value_and_remedy(text: str, part: str) -> None:
    found = complaints(text)
    assert any(part in complaint for complaint in found), found


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ([], "the file: [] is not a mapping"),
        ({"kind": "Configuration"}, "apiVersion: is missing: write config.kueue.x-k8s.io/v1beta2"),
        ({"apiVersion": "config.kueue.x-k8s.io/v1beta2"}, "kind: is missing"),
        ({"apiVersion": "apps/v1", "kind": "Deployment"}, 'kind: "Deployment" is not Configuration'),
        ({"apiVersion": "config.kueue.x-k8s.io/v1beta3", "kind": "Configuration"}, "did you mean config.kueue"),
    ],
)
def test_what_is_no_configuration_is_refused(content: Any, part: str) -> None:
    assert any(part in str(problem) for problem in read(content).problems)


def test_all_faults_are_told_at_once() -> None:
    assert len(complaints("\n".join(["waitForPodsReady: {timeout: 1, a: 1}", "fairSharing: {}", "b: 1"]))) == 4


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("pprofBindAddress: ':8083'", "pprofBindAddress"),
        ("controller: {groupKindConcurrency: {Job.batch: 5}, cacheSyncTimeout: 120000000000}", "controller"),
        ("multiKueue: {gcInterval: 1m, origin: a, workerLostTimeout: 1m}", "multiKueue"),
        ("multiKueue: {clusterProfile: {}, externalFrameworks: [{name: Foo.v1.acme.io}]}", "multiKueue"),
        ("resources: {deviceClassMappings: [{name: a, deviceClassNames: [c]}]}", "resources.deviceClassMappings"),
        ("tls: {cipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]}", "tls.cipherSuites"),
        ("integrations: {externalFrameworks: [Foo.v1.acme.io]}", "integrations.externalFrameworks"),
        ("health: {readinessEndpointName: ready}", "health.readinessEndpointName"),
        ("internalCertManagement: {webhookServiceName: mine}", "internalCertManagement.webhookServiceName"),
        ("metrics: {customLabels: [{name: team}]}", "metrics.customLabels"),
        ("featureGates: {VectorizedResourceRequests: false}", "featureGates.VectorizedResourceRequests"),
    ],
)
def test_what_has_no_effect_is_accepted_and_told(text: str, path: str) -> None:
    assert any(note.startswith(f"{path}: has no effect here: ") for note in notes(text))


class TestGates:
    def test_one_that_we_have_can_be_set_either_way(self) -> None:
        for name, usual in KEPT.items():
            found = reading(f"featureGates: {{{name}: {str(not usual).lower()}}}")
            assert found.problems or found.core.gates[name] is not usual

    def test_one_that_we_lack_may_only_be_off(self) -> None:
        for name, part in LACKING.items():
            assert good(f"featureGates: {{{name}: false}}").core == DEFAULTS
            assert (
                f"is about {part}, which this version does not have" in complaints(f"featureGates: {{{name}: true}}")[0]
            )

    def test_one_that_is_how_we_work_may_only_be_on(self) -> None:
        for name, why in FIXED.items():
            assert good(f"featureGates: {{{name}: true}}").core == DEFAULTS
            assert f"can't be switched off: {why}" in complaints(f"featureGates: {{{name}: false}}")[0]

    def test_one_that_can_be_set_either_way_is_asked_for(self) -> None:
        root = Path(__file__).parents[2]
        sources = [file for part in ("admission", "controller", "webhooks") for file in (root / part).rglob("*.py")]
        text = "".join(file.read_text() for file in sources if file.name != "gates.py" or file.parent.name != "model")
        assert [name for name in KEPT if f'"{name}"' not in text] == []

    def test_every_gate_is_of_one_sort(self) -> None:
        names = [*KEPT, *FIXED, *NEUTRAL, *LACKING]
        assert len(names) == len(set(names))

    def test_sections_can_be_switched_off_by_a_gate(self) -> None:
        assert good("featureGates: {DisableWaitForPodsReady: true}").core.wait_for_pods_ready is None
        off = good("{admissionFairSharing: {usageHalfLifeTime: 1h}, featureGates: {AdmissionFairSharing: false}}")
        assert off.core.admission_fair_sharing is None
        assert "AdmissionFairSharing" in str(off.notes[0])

    def test_the_flag_reads_as_gos(self) -> None:
        gates = good("{}", feature_gates=" PartialAdmission=F, PriorityBoost=1,").core.gates
        assert gates["PriorityBoost"]
        assert not gates["PartialAdmission"]
        assert complaints("{}", feature_gates="PartialAdmission") == [
            '--feature-gates: "PartialAdmission" sets no gate: write Name=true or Name=false'
        ]

    def test_flag_and_field_exclude_each_other(self) -> None:
        assert "keep one of the two" in complaints("featureGates: {}", feature_gates="PartialAdmission=false")[0]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = (
    "waitForPodsReady timeout requeuingStrategy fairSharing preemptionStrategies resources transformations outputs "
    "featureGates integrations frameworks managedJobsNamespaceSelector matchExpressions metrics customLabels tls "
    "deviceClassMappings sources multiKueue clusterProfile accessProviders admissionFairSharing resourceWeights"
)
KEYS = st.sampled_from(FIELDS.split())


@given(st.dictionaries(KEYS, JSON | st.dictionaries(KEYS, JSON, max_size=3), max_size=4), st.sampled_from(["1", "2"]))
def test_whatever_the_file_holds_it_is_read_or_refused_but_never_breaks(content: dict[str, Any], version: str) -> None:
    head = {"apiVersion": f"config.kueue.x-k8s.io/v1beta{version}", "kind": "Configuration"}
    assert all(str(problem) for problem in read({**content, **head}).problems)
