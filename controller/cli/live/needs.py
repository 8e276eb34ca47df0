"""What of a scenario can't be played on a real API server, named for people."""

from collections.abc import Iterator
from dataclasses import fields, replace

from admission.configuration import SECTIONS, read, system_excluded
from admission.model.configuration import DEFAULTS, NAMESPACE, Configuration
from admission.model.names import NAMESPACE_NAME
from admission.world.scenario.event_forms import JobStopped
from admission.world.scenario.expectation_forms import CountIs, CountWrites, RequestIs
from admission.world.scenario.file_form import MaxWrites, ScenarioFile
from admission.world.scenario.needs import lacking
from controller.cli.live.names import LONGEST

# With a product of the run's own they can happen; another is somebody else's to stop.
_DISTURBING = (
    "scheduler-pause",
    "scheduler-resume",
    "restart-controller",
    "start-replicas",
    "kill-leader",
    "conflict-injector",
    "forbid-reads",
    "rotate-serving-cert",
)
_OTHER_SYSTEMS = ("elasticquota", "kai-queue", "volcano-queue", "volcano-job")
# The API server asks about Pods a moment after what concerns them is there; a case says by the second what happens.
_OF_PODS = "qos"
_REMEDY = "add --own-product"


def jobs_of_ours(form: ScenarioFile) -> set[str]:
    """Jobs whose pods stop when the scenario says so: Kubernetes' Job controller would not wait for that."""
    return {event.ref for event in form.events if isinstance(event, JobStopped) and event.ref.startswith("Job/")}


def _only_ours(law: MaxWrites, form: ScenarioFile) -> bool:
    """Whether nobody but the product and the case writes to it, so that its writes can be told by what changed."""
    return law.ref is None or law.ref.startswith("Workload/") or law.ref in jobs_of_ours(form)


def disturbs(form: ScenarioFile) -> bool:
    """Whether it does something to the product that others on the cluster would notice."""
    return any(event.op in _DISTURBING for event in form.events)


def lacking_live(form: ScenarioFile, running: Configuration = DEFAULTS, *, own: bool = False) -> list[str]:
    """Empty: it can be played. `running`: the Configuration that the product on the cluster runs with. `own`: the run
    has a product of its own, with the configuration that the case asks for."""
    missing = [need for need in lacking(form) if need != "live-only"]
    missing += _lacking(form)
    if own:
        missing += _named_namespace(form)
    else:
        missing += [*_disturbance(form), *_other_config(form, running)]
    return list(dict.fromkeys(missing))


def _named_namespace(form: ScenarioFile) -> Iterator[str]:
    said = form.config.model_dump() if form.config else {}
    if NAMESPACE_NAME in str(said.get("managedJobsNamespaceSelector")):
        yield "config: managedJobsNamespaceSelector: names a namespace, and on a shared cluster its name is another"


def _other_config(form: ScenarioFile, running: Configuration) -> Iterator[str]:
    """Only what changes decisions is compared; ports and the like are the cluster's own business."""
    said = form.config.model_dump() if form.config else None
    # In one namespace, as that is part of what jobs are managed by default.
    wanted = read(said, namespace=NAMESPACE).core
    found = replace(running, namespace=NAMESPACE, koordinator=wanted.koordinator)  # a flag, of which no file speaks
    usual = running.managed_jobs_namespace_selector == system_excluded(running.namespace)
    if usual and (said is None or "managedJobsNamespaceSelector" not in said):
        found = replace(found, managed_jobs_namespace_selector=wanted.managed_jobs_namespace_selector)
    yield from _named_namespace(form)
    for field in fields(Configuration):
        if getattr(wanted, field.name) != getattr(found, field.name):
            yield f"config: {SECTIONS[field.name]}: the running product has another (--config says which)"


def _disturbance(form: ScenarioFile) -> Iterator[str]:
    """What only a product of our own suffers, or tells."""
    there = {event.op for event in form.events}
    yield from (f"op {op}: {_REMEDY}" for op in _DISTURBING if op in there)
    for law in form.always or ():
        if law.noRequests or (law.maxWrites and not _only_ours(law.maxWrites, form)):
            yield f"requests of the product: {_REMEDY}"
    if any(isinstance(a, CountIs) and isinstance(a.count, CountWrites) for a in form.expect):
        yield f"requests of the product: {_REMEDY}"


def _lacking(form: ScenarioFile) -> Iterator[str]:
    yield from (f"{need}: only played in memory" for need in form.needs if need in _OTHER_SYSTEMS)
    if _OF_PODS in form.needs:
        yield f"{_OF_PODS}: only played in memory, webhooks for Pods come a moment after what concerns them"
    if "offline-only" in form.needs:
        yield "offline-only"
    if any(event.op == "admission-review" for event in form.events):
        yield "op admission-review: not on a real API server"
    for expectation in form.expect:
        if isinstance(expectation, RequestIs) and (expectation.unchanged or expectation.patchHasNoRemove):
            yield "patches of webhooks: only seen in memory"
    for manifest in form.objects:
        meta = manifest["metadata"]
        if manifest["kind"] == "JobKind":
            yield "JobKind: what a kind means is the same for everybody on a cluster"
        if meta.get("namespace") == "kube-system":
            yield "objects in kube-system"
        if max(len(meta.get("name") or ""), len(meta.get("namespace") or "")) > LONGEST:
            yield "names too long to be made unique"
