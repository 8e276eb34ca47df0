"""`integrations`: which kinds of jobs are managed. Without a list that is every kind that the cluster serves.

Kueue's own Configuration lists kinds that this version lacks: it is taken as it is, and said what that means.
"""

from typing import NamedTuple

from admission.configuration.fields import Section, is_kind, nearest, shown
from admission.configuration.names import check_label_key
from admission.configuration.selectors import read_selector_field
from admission.model.kinds import JOBS, KINDS

# As Kueue names them: group and kind in lower case.
FRAMEWORKS = {f"{KINDS[kind].group}/{kind.lower()}": kind for kind in JOBS}
LACKING = (
    "deployment",
    "leaderworkerset.x-k8s.io/leaderworkerset",
    "pod",
    "ray.io/rayservice",
    "statefulset",
    "trainer.kubeflow.org/trainjob",
    "workload.codeflare.dev/appwrapper",
)


class Integrations(NamedTuple):
    label_keys: tuple[str, ...]  # of labels that are copied from jobs to Workloads
    frameworks: tuple[str, ...] | None  # kinds that are managed; None: all


def read_integrations(section: Section, version: str) -> Integrations:
    listed = section.texts("frameworks")
    for at, name in enumerate(listed):
        path = (*section.path, "frameworks", at)
        if name in listed[:at]:
            section.report.wrong(path, f"{shown(name)} is listed twice", "keep it once")
        elif name in LACKING:
            section.report.note(path, f"{shown(name)} is not managed by this version: what is made of it is not queued")
        elif name not in FRAMEWORKS:
            known = (*FRAMEWORKS, *LACKING)
            section.report.wrong(path, f"{shown(name)} is not a framework", nearest(name, known, "remove it"))
    section.without_effect("externalFrameworks", "jobs below such an owner are managed by their own queue name")
    external = section.texts("externalFrameworks")
    for at, name in enumerate(external):
        path = (*section.path, "externalFrameworks", at)
        if not is_kind(name):
            section.report.wrong(path, f"{shown(name)} is not a kind", "write it like Kind.version.group.com")
        elif name in external[:at]:
            section.report.wrong(path, f"{shown(name)} is listed twice", "keep it once")
    if version == "v1beta1":
        section.without_effect("podOptions", "managedJobsNamespaceSelector has taken its place")
        options = section.part("podOptions")
        for key in ("namespaceSelector", "podSelector"):
            read_selector_field(options, key)
    managed = tuple(FRAMEWORKS[name] for name in listed if name in FRAMEWORKS) if listed else None
    label_keys = section.texts("labelKeysToCopy")
    for at, key in enumerate(label_keys):
        check_label_key(section, ("labelKeysToCopy", at), key)
    return Integrations(label_keys, managed)
