"""`integrations`: which kinds of jobs are managed.

Kueue manages no kind that is not listed, so a listed kind that we lack is refused: whoever lists it expects its jobs to
wait for quota.
"""

from admission.configuration.fields import Section, is_kind, nearest, shown
from admission.configuration.selectors import read_selector_field

FRAMEWORKS = ("batch/job",)  # of this version
_KUEUES = (
    *FRAMEWORKS,
    "deployment",
    "jobset.x-k8s.io/jobset",
    "kubeflow.org/jaxjob",
    "kubeflow.org/mpijob",
    "kubeflow.org/paddlejob",
    "kubeflow.org/pytorchjob",
    "kubeflow.org/tfjob",
    "kubeflow.org/xgboostjob",
    "leaderworkerset.x-k8s.io/leaderworkerset",
    "pod",
    "ray.io/raycluster",
    "ray.io/rayjob",
    "ray.io/rayservice",
    "sparkoperator.k8s.io/sparkapplication",
    "statefulset",
    "trainer.kubeflow.org/trainjob",
    "workload.codeflare.dev/appwrapper",
)


def read_integrations(section: Section, version: str) -> tuple[str, ...]:
    """The label keys that are copied from jobs to Workloads."""
    seen: set[str] = set()
    for at, name in enumerate(section.texts("frameworks")):
        path = (*section.path, "frameworks", at)
        if name in seen:
            section.report.wrong(path, f"{shown(name)} is listed twice", "keep it once")
        elif name not in _KUEUES:
            section.report.wrong(path, f"{shown(name)} is not a framework", nearest(name, _KUEUES, "remove it"))
        elif name not in FRAMEWORKS:
            remedy = f"remove it; this version manages {', '.join(FRAMEWORKS)}"
            section.report.wrong(path, f"{shown(name)} is a kind of job that this version does not manage", remedy)
        seen.add(name)
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
    return section.texts("labelKeysToCopy")
