"""From a request at a path to its answer: gathers what the rules need, never judges itself."""

from admission.answers.hooks import Hook, hook_at
from admission.answers.request import Answer, Request, View
from admission.answers.stamping import stamped_by_rules
from admission.api.documents import Document, Unreadable
from admission.api.field_errors import FieldError
from admission.stamping.ancestors import NestedTooDeeply
from admission.stamping.colocation import CannotStamp
from admission.stamping.finalizer import stamp_finalizer
from admission.stamping.incoming import incoming
from admission.stamping.job import DEFAULT_LOCAL_QUEUE, Surroundings, keep_held, stamp_job
from admission.stamping.workload import stamp_workload
from admission.validation.cluster_queue import check_cluster_queue
from admission.validation.cohort import check_cohort
from admission.validation.job import check_job
from admission.validation.job_accelerators import check_job_accelerators
from admission.validation.job_kind import check_job_kind
from admission.validation.job_profile import check_job_profile
from admission.validation.resource_flavor import check_resource_flavor
from admission.validation.templated_job import Around, check_templated_job
from admission.validation.unchanged import unchanged
from admission.validation.workload import check_workload, warnings_of


def answer(path: str, request: Request, view: View) -> Answer:
    """Deterministic, without side effects; the same for a dry run. Never raises for what the request contains."""
    hook = hook_at(path, view.job_kinds)
    if hook is None:
        return Answer(False, f"no webhook is served at {path}", code=404)
    if request.object is None:  # deletions are never refused
        return Answer()
    if hook.of_jobs and hook.kind not in view.job_kinds:
        return Answer()
    try:
        return _answered(hook, request.object, request, view)
    except Unreadable as unreadable:
        return Answer(False, str(unreadable.error), code=400)
    except (NestedTooDeeply, CannotStamp) as error:
        return Answer(False, str(error), code=403)


def _answered(hook: Hook, document: Document, request: Request, view: View) -> Answer:
    if hook.of_jobs:
        stamp_or_judge = _stamped if hook.verb == "mutate" else _judged
        return stamp_or_judge(hook.kind, document, request, view)
    if hook.verb == "mutate":
        return _mutate(hook.kind, document, request, view)
    return _validate(hook.kind, document, request, view)


def _stamped(kind: str, document: Document, request: Request, view: View) -> Answer:
    around, descriptor = _surroundings(request, view), view.job_kinds[kind]
    job = incoming(kind, descriptor, document)
    if request.old_object is not None:
        stamp = keep_held(job, incoming(kind, descriptor, request.old_object), around)
        return Answer(patch=stamp.patch, warnings=stamp.warnings)
    given = stamped_by_rules(kind, descriptor, document, job.metadata, request, view)
    if given.refusals:
        return _refused_if(list(given.refusals), given.warnings)
    stamp = stamp_job(incoming(kind, descriptor, given.document) if given.patch else job, around)
    return Answer(patch=(*given.patch, *stamp.patch), warnings=(*given.warnings, *stamp.warnings))


def _judged(kind: str, document: Document, request: Request, view: View) -> Answer:
    before, configuration = request.old_object, view.configuration
    has_default = view.local_queue(request.namespace, DEFAULT_LOCAL_QUEUE) is not None
    gated = configuration.gates["AdmissionGatedBy"]
    devices = check_job_accelerators(kind, view.job_kinds[kind], document, before, view.accelerators)
    if kind == "Job":
        return _refused_if([*check_job(document, before, has_default, gated), *devices.errors], devices.warnings)
    leaves = configuration.gates["ValidateRayAndSparkJobUpdates"]
    around = Around(has_default, gated, configuration.manage_jobs_without_queue_name, leaves)
    errors = check_templated_job(kind, view.job_kinds[kind], document, before, around)
    return _refused_if([*errors, *devices.errors], devices.warnings)


def _mutate(kind: str, document: Document, request: Request, view: View) -> Answer:
    if kind == "Workload":
        return Answer(patch=stamp_workload(document, view.configuration.gates))
    return Answer(patch=stamp_finalizer(document)) if request.operation == "CREATE" else Answer()


def _validate(kind: str, document: Document, request: Request, view: View) -> Answer:
    before, gates = request.old_object, view.configuration.gates
    match kind:
        case "Workload":
            warnings = () if request.subresource else warnings_of(document)
            return _refused_if(check_workload(document, before, gates), warnings)
        case _ if before is not None and unchanged(document, before, "spec"):
            return Answer()  # labels, finalizers, status: they must pass however wrong the spec of old is
        case "ClusterQueue":
            return _refused_if(check_cluster_queue(document, before, gates))
        case "Cohort":
            return _refused_if(check_cohort(document, before))
        case "JobKind":
            return _refused_if(check_job_kind(document, before))
        case "JobProfile":
            return _refused_if(check_job_profile(document))
        case _:
            return _refused_if(check_resource_flavor(document, before))


def _surroundings(request: Request, view: View) -> Surroundings:
    labels = view.namespace_labels(request.namespace)
    configuration = view.configuration
    return Surroundings(
        has_default_queue=view.local_queue(request.namespace, DEFAULT_LOCAL_QUEUE) is not None,
        namespace_is_managed=labels is not None and configuration.managed_jobs_namespace_selector.matches(labels),
        manage_without_queue_name=configuration.manage_jobs_without_queue_name,
        job_kinds=view.job_kinds,
        has_priority_class=view.has_priority_class if configuration.gates["WorkloadPriorityClassDefaulting"] else None,
        owner=lambda api_version, kind, name: view.owner(request.namespace, api_version, kind, name),
    )


def _refused_if(errors: list[FieldError], warnings: tuple[str, ...] = ()) -> Answer:
    """All complaints at once, as Kubernetes aggregates them."""
    if not errors:
        return Answer(warnings=warnings)
    said = list(dict.fromkeys(str(error) for error in errors))
    return Answer(False, said[0] if len(said) == 1 else f"[{', '.join(said)}]", code=403)
