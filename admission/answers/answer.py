"""From a request at a path to its answer: gathers what the rules need, never judges itself."""

from admission.answers.hooks import Hook, hook_at
from admission.answers.identity import identified, identified_workload, identity_errors, identity_kept
from admission.answers.pods import check_pod, stamped_pod
from admission.answers.policies import beyond_policies
from admission.answers.request import Answer, Request, View
from admission.answers.stamping import kept_stamped, stamped_by_rules
from admission.api.documents import Document, Unreadable
from admission.api.field_errors import FieldError
from admission.stamping.ancestors import NestedTooDeeply
from admission.stamping.colocation import CannotStamp
from admission.stamping.elastic_quota import stamp_elastic_quota
from admission.stamping.finalizer import stamp_finalizer
from admission.stamping.incoming import incoming
from admission.stamping.job import DEFAULT_LOCAL_QUEUE, Surroundings, keep_held, stamp_job
from admission.stamping.workload import stamp_workload
from admission.validation.cluster_queue import check_cluster_queue
from admission.validation.cohort import check_cohort
from admission.validation.elastic_quota import check_deletion, check_elastic_quota
from admission.validation.job import check_job
from admission.validation.job_accelerators import check_job_accelerators
from admission.validation.job_kind import check_job_kind
from admission.validation.job_profile import check_job_profile
from admission.validation.qos import check_template_qos
from admission.validation.queue_policy import check_queue_policy
from admission.validation.resource_flavor import check_resource_flavor
from admission.validation.templated_job import Around, check_templated_job
from admission.validation.unchanged import unchanged
from admission.validation.workload import check_workload, warnings_of

# They delete what is left of a namespace or an owner that is gone for good: nobody would be helped by a refusal.
_CLEANERS = tuple(
    f"system:serviceaccount:kube-system:{name}" for name in ("namespace-controller", "generic-garbage-collector")
)


def answer(path: str, request: Request, view: View) -> Answer:
    """Deterministic, without side effects; the same for a dry run. Never raises for what the request contains."""
    hook = hook_at(path, view.job_kinds)
    if hook is None:
        return Answer(False, f"no webhook is served at {path}", code=404)
    if request.object is None and hook.kind != "ElasticQuota":  # other deletions are never refused
        return Answer()
    if hook.of_jobs and hook.kind not in view.job_kinds:
        return Answer()
    try:
        if hook.kind == "ElasticQuota":
            return _about_quota(hook, request, view)
        assert request.object is not None
        return _answered(hook, request.object, request, view)
    except Unreadable as unreadable:
        return Answer(False, str(unreadable.error), code=400)
    except (NestedTooDeeply, CannotStamp) as error:
        return Answer(False, str(error), code=403)


def _answered(hook: Hook, document: Document, request: Request, view: View) -> Answer:
    if hook.of_jobs:
        stamp_or_judge = _stamped if hook.verb == "mutate" else _judged
        return stamp_or_judge(hook.kind, document, request, view)
    if hook.kind == "Pod":
        return _about_pod(hook, document, request, view)
    if hook.verb == "mutate":
        return _mutate(hook.kind, document, request, view)
    return _validate(hook.kind, document, request, view)


def _stamped(kind: str, document: Document, request: Request, view: View) -> Answer:
    around, descriptor = _surroundings(request, view), view.job_kinds[kind]
    job = incoming(kind, descriptor, document)
    if request.old_object is not None:
        again = kept_stamped(kind, descriptor, document, request.old_object, request, view)
        if again.refusals:
            return _refused_if(list(again.refusals), again.warnings)
        job = incoming(kind, descriptor, again.document) if again.patch else job
        before = incoming(kind, descriptor, request.old_object)
        stamp = keep_held(job, before, around)
        kept = identity_kept(job.metadata.annotations, before.metadata.annotations)
        return Answer(patch=(*again.patch, *kept, *stamp.patch), warnings=stamp.warnings)
    given = stamped_by_rules(kind, descriptor, document, job.metadata, request, view)
    if given.refusals:
        return _refused_if(list(given.refusals), given.warnings)
    job = incoming(kind, descriptor, given.document) if given.patch else job
    stamp = stamp_job(job, around)
    whose, told = identified(job.metadata.annotations, job.metadata.owner_references, request, view)
    return Answer(patch=(*given.patch, *stamp.patch, *whose), warnings=(*given.warnings, *stamp.warnings, *told))


def _judged(kind: str, document: Document, request: Request, view: View) -> Answer:
    before, configuration = request.old_object, view.configuration
    has_default = view.local_queue(request.namespace, DEFAULT_LOCAL_QUEUE) is not None
    gated = configuration.gates["AdmissionGatedBy"]
    devices = check_job_accelerators(kind, view.job_kinds[kind], document, before, view.accelerators)
    koordinator = configuration.koordinator
    value_of = koordinator.value_of(view.pod_priority_class)
    quality = check_template_qos(view.job_kinds[kind], document, before, koordinator, value_of)
    beyond = [*identity_errors(document, before), *beyond_policies(view.job_kinds[kind], document, request, view)]
    if kind == "Job":
        errors = check_job(document, before, has_default, gated)
        return _refused_if([*errors, *devices.errors, *quality, *beyond], devices.warnings)
    leaves = configuration.gates["ValidateRayAndSparkJobUpdates"]
    around = Around(has_default, gated, configuration.manage_jobs_without_queue_name, leaves)
    errors = check_templated_job(kind, view.job_kinds[kind], document, before, around)
    return _refused_if([*errors, *devices.errors, *quality, *beyond], devices.warnings)


def _about_pod(hook: Hook, document: Document, request: Request, view: View) -> Answer:
    if hook.verb == "validate":
        return _refused_if(check_pod(document, request.old_object, request, view))
    said, refusals = stamped_pod(document, request, view)
    return _refused_if(refusals, said.warnings) if refusals else said


def _mutate(kind: str, document: Document, request: Request, view: View) -> Answer:
    if kind == "Workload":
        whose, told = identified_workload(document, request, view)
        return Answer(patch=(*stamp_workload(document, view.configuration.gates), *whose), warnings=told)
    return Answer(patch=stamp_finalizer(document)) if request.operation == "CREATE" else Answer()


def _validate(kind: str, document: Document, request: Request, view: View) -> Answer:
    before, gates = request.old_object, view.configuration.gates
    match kind:
        case "Workload":
            warnings = () if request.subresource else warnings_of(document)
            errors = [*check_workload(document, before, gates), *identity_errors(document, before)]
            return _refused_if(errors, warnings)
        case _ if before is not None and unchanged(document, before, "spec"):
            return Answer()  # labels, finalizers, status: they must pass however wrong the spec of old is
        case "ClusterQueue":
            return _refused_if(check_cluster_queue(document, before, gates))
        case "Cohort":
            return _refused_if(check_cohort(document, before))
        case "JobKind":
            return _refused_if(check_job_kind(document, before))
        case "QueuePolicy":
            return _refused_if(check_queue_policy(document))
        case "JobProfile":
            return _refused_if(check_job_profile(document))
        case _:
            return _refused_if(check_resource_flavor(document, before))


def _about_quota(hook: Hook, request: Request, view: View) -> Answer:
    """Quotas are few and seldom written by people: they are judged beside the others as those are now."""
    document, before = request.object, request.old_object
    if document is None and (before is None or request.username in _CLEANERS):
        return Answer()
    quotas = view.elastic_quotas(fresh=True)
    if document is None:
        assert before is not None
        return _refused_if(check_deletion(before, quotas, view.quota_has_pods))
    if hook.verb == "mutate":
        return Answer(patch=stamp_elastic_quota(document, quotas))
    return _refused_if(check_elastic_quota(document, before, quotas, view.quota_has_pods))


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
