"""From the content of a Configuration file to what it means."""

from dataclasses import dataclass, replace
from typing import Any

from admission.configuration.fair_sharing import read_admission_fair_sharing, read_fair_sharing
from admission.configuration.fields import Note, Problem, Report, Section, nearest, shown
from admission.configuration.gates import read_gates
from admission.configuration.integrations import read_integrations
from admission.configuration.metrics import read_metrics
from admission.configuration.multikueue import check_multikueue
from admission.configuration.names import check_namespace
from admission.configuration.pods_ready import read_pods_ready
from admission.configuration.process import Process, read_process
from admission.configuration.resources import read_resources
from admission.configuration.retention import read_retention
from admission.configuration.selectors import read_namespaces
from admission.configuration.serving import read_tls, read_visibility
from admission.model.configuration import NAMESPACE, Configuration

GROUP = "config.kueue.x-k8s.io"
VERSIONS = (f"{GROUP}/v1beta2", f"{GROUP}/v1beta1")

# The field of the file that each field of the Configuration comes from.
SECTIONS = {
    "namespace": "namespace",
    "manage_jobs_without_queue_name": "manageJobsWithoutQueueName",
    "managed_jobs_namespace_selector": "managedJobsNamespaceSelector",
    "wait_for_pods_ready": "waitForPodsReady",
    "fair_sharing": "fairSharing",
    "admission_fair_sharing": "admissionFairSharing",
    "resources": "resources",
    "retention": "objectRetentionPolicies",
    "label_keys_to_copy": "integrations.labelKeysToCopy",
    "metrics": "metrics",
    "gates": "featureGates",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """Where there are problems the settings are good for nothing but to look on."""

    core: Configuration
    process: Process
    problems: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()


def read(content: Any, *, feature_gates: str = "", namespace: str = "", home: str = NAMESPACE) -> Reading:
    """`content`: the file as plain maps, lists and values; None: no file, all defaults. Never raises.

    `feature_gates` is the text of that flag. `namespace` wins over the file's, `home` is used where neither says.
    """
    report = Report()
    file = report.section({"apiVersion": VERSIONS[0], "kind": "Configuration"} if content is None else content, ())
    version = _version(file)
    if report.problems:
        return Reading(Configuration(), Process(), tuple(report.problems))
    core, process = _settings(file, report, version, feature_gates, namespace, home)
    report.close()
    return Reading(core, process, tuple(report.problems), tuple(report.notes))


def _version(file: Section) -> str:
    kind, version = file.text("kind", ""), file.text("apiVersion", "")
    if kind != "Configuration":
        file.wrong("kind", f"{shown(kind)} is not Configuration" if kind else "is missing", "write Configuration")
    if version not in VERSIONS:
        said = f"{shown(version)} is not one that is known" if version else "is missing"
        file.wrong("apiVersion", said, nearest(version, VERSIONS, f"write {VERSIONS[0]}"))
    return version.rpartition("/")[2]


def _settings(
    file: Section, report: Report, version: str, flag: str, namespace: str, home: str
) -> tuple[Configuration, Process]:
    said = file.text("namespace", "")
    check_namespace(file, "namespace", said or None)
    namespace = namespace or said or home
    set_here, gates_said = file.has("featureGates"), file.table("featureGates")
    gates = read_gates(gates_said if set_here else None, flag, report)
    metrics, pods_ready = file.part("metrics"), file.part("waitForPodsReady")
    integrations = read_integrations(file.part("integrations"), version)
    core = Configuration(
        namespace=namespace,
        manage_jobs_without_queue_name=file.flag("manageJobsWithoutQueueName", False),
        managed_jobs_namespace_selector=read_namespaces(file, namespace),
        wait_for_pods_ready=read_pods_ready(pods_ready, version),
        fair_sharing=read_fair_sharing(file.part("fairSharing"), version),
        admission_fair_sharing=read_admission_fair_sharing(file.part("admissionFairSharing")),
        resources=read_resources(file.part("resources"), version),
        retention=read_retention(file.part("objectRetentionPolicies")),
        label_keys_to_copy=integrations.label_keys,
        frameworks=integrations.frameworks,
        metrics=read_metrics(metrics, version),
        gates=gates,
    )
    check_multikueue(file, version)
    process = read_process(file, metrics)
    host, port = read_visibility(file, version)
    process = replace(process, visibility_host=host, visibility_port=port, tls_min_version=read_tls(file))
    return _gated(core, pods_ready, report), process


def _gated(core: Configuration, pods_ready: Section, report: Report) -> Configuration:
    """Whole sections that a gate switches off; what was written in vain is told."""
    gates, changes = core.gates, dict[str, Any]()
    if gates["DisableWaitForPodsReady"]:
        changes["wait_for_pods_ready"] = None
    if not gates["AdmissionFairSharing"]:
        changes["admission_fair_sharing"] = None
    if not gates["QuotaCheckStrategy"]:
        changes["resources"] = replace(core.resources, ignore_undeclared=False)
    if not gates["LocalQueueMetrics"]:
        changes["metrics"] = replace(core.metrics, local_queues=None)
    for field, gate, section in (
        ("wait_for_pods_ready", "DisableWaitForPodsReady", "waitForPodsReady"),
        ("admission_fair_sharing", "AdmissionFairSharing", "admissionFairSharing"),
        ("resources", "QuotaCheckStrategy", "resources"),
    ):
        by_default = section == "waitForPodsReady" and not pods_ready.present
        if field in changes and changes[field] != getattr(core, field) and not by_default:
            report.note((section,), f"is switched off, at least in part, by the feature gate {gate}")
    return replace(core, **changes)
