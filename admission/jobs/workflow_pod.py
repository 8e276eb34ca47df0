"""One pod that stands for all pods of an Argo Workflow: with what they need together, and with what holds for each."""

from collections.abc import Mapping, Sequence
from typing import Any

from admission.api.field_errors import OMITTED, invalid
from admission.jobs.min_resources import BadResources, min_resources
from admission.jobs.workflow_requests import Counted, counted
from admission.jobs.workflow_templates import Template, Templates, calls_of, containers_of, places, too_large
from admission.model.amounts import text as quantity
from admission.readers.narrow import entries, mapping, strings, text
from admission.readers.pod_set import read_toleration
from admission.readers.pool import Pool

NOT_COUNTED = "lockgate.dev/not-counted"
_LONGEST_NOTE = 1024  # characters: enough for the first few of many notes

# A workflow's status changes with every pod; its spec hardly ever does.
_counted: Pool[Counted] = Pool(1024)


def needed(manifest: Mapping[str, Any]) -> Counted:
    """What its author says, else what its templates tell. Total."""
    spec = mapping(manifest.get("spec"))
    if large := too_large(spec):
        return Counted({}, invalid("spec", OMITTED, large))
    try:
        said = min_resources(manifest)
    except BadResources as error:
        return Counted({}, error.error)
    if said is not None:
        return Counted(said)
    try:
        return _counted.of(spec, lambda: counted(spec))
    except RecursionError:
        return Counted({}, invalid("spec", OMITTED, "nested too deeply to be counted"))


def stand_in(manifest: Mapping[str, Any], needs: Counted) -> dict[str, Any]:
    """A pod template. Total."""
    spec = mapping(manifest.get("spec"))
    requests = {name: quantity(name, units) for name, units in needs.requests.items()}
    pod: dict[str, Any] = {"containers": [{"name": "main", "resources": {"requests": requests}}]}
    selectors, tolerations, affinities = _in_pods(spec)
    fields: tuple[tuple[str, Any], ...] = (
        ("nodeSelector", _agreed([strings(one) for one in selectors])),
        ("tolerations", _tolerated([entries(one) for one in tolerations])),
        ("affinity", _same([mapping(one) for one in affinities])),
        ("priorityClassName", text(spec.get("podPriorityClassName"))),
        ("schedulerName", text(spec.get("schedulerName"))),
    )
    pod |= {field: value for field, value in fields if value}
    metadata = _metadata(mapping(spec.get("podMetadata")), needs.notes)
    return {"metadata": metadata, "spec": pod} if metadata else {"spec": pod}


def _metadata(stated: Mapping[str, Any], notes: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in ("labels", "annotations"):
        if values := strings(stated.get(field)):
            found[field] = values
    if notes:
        found["annotations"] = {**found.get("annotations", {}), NOT_COUNTED: "; ".join(notes)[:_LONGEST_NOTE]}
    return found


def _in_pods(spec: Mapping[str, Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """What pods get as node selector, as tolerations and as affinity: each that one of them may get. Each comes, as a
    whole, from the first that states any of the pod's template, the template that calls it, and the workflow."""
    templates = Templates(spec)
    written = [
        templates.whole(template)
        for path, template in ([] if too_large(spec) else places(spec))
        if path[1] != "templateDefaults"
    ]
    makers = [template for template in written if containers_of(template)] or [{}]
    callers = [template for template in written if calls_of(template)]
    selectors, tolerations, affinities = (
        _got(field, makers, callers, spec) for field in ("nodeSelector", "tolerations", "affinity")
    )
    return selectors, tolerations, affinities


def _got(field: str, makers: Sequence[Template], callers: Sequence[Template], spec: Mapping[str, Any]) -> list[Any]:
    own = [template[field] for template in makers if template.get(field)]
    if len(own) == len(makers):
        return own
    return [spec.get(field), *own, *(caller[field] for caller in callers if caller.get(field))]


def _agreed(each: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What all say alike."""
    first, *others = each
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def _tolerated(each: Sequence[Sequence[Mapping[str, Any]]]) -> list[Mapping[str, Any]]:
    """What all tolerate, however they spell it."""
    first, *others = each
    known = [{read_toleration(one) for one in other} for other in others]
    return [one for one in first if all(read_toleration(one) in other for other in known)]


def _same(each: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    first, *others = each
    return first if all(other == first for other in others) else {}
