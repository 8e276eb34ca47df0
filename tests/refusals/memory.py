"""What our models, CEL rules in Python and webhook checks say of a write, without any server."""

import re
from collections.abc import Mapping

from admission.answers import Answer, Operation, Request, answer, hooks_for
from admission.api.crd import OWN, SERVED
from admission.api.defaults import prune, with_defaults
from admission.api.violations import violations
from admission.jobs.registry import JobKinds
from admission.model.colocation_profile import ColocationProfile
from admission.model.configuration import DEFAULTS
from admission.model.job_profile import JobProfile
from admission.model.queues import LocalQueue, PriorityClass
from admission.resources.catalogue import CATALOGUE
from tests.refusals.row import Object, Write
from tests.without_policies import WithoutPolicies


class NobodyElse(WithoutPolicies):
    """A cluster with nothing else in it."""

    configuration = DEFAULTS
    job_kinds = JobKinds()
    accelerators = CATALOGUE
    job_profiles: tuple[JobProfile, ...] = ()
    colocation_profiles: tuple[ColocationProfile, ...] = ()

    def pod_priority_class(self, name: str) -> PriorityClass | None:
        return None

    def local_queue(self, namespace: str, name: str) -> LocalQueue | None:
        return None

    def namespace_labels(self, namespace: str) -> Mapping[str, str]:
        return {}

    def has_priority_class(self, name: str) -> bool:
        return False

    def owner(self, namespace: str, api_version: str, kind: str, name: str) -> None:
        return None


def refusal(write: Write) -> tuple[str, list[str]]:
    """Who refuses, "" for nobody, and each complaint."""
    kind = write.new["kind"]
    old = None if write.old is None else _read(kind, write.old)
    new = _read(kind, write.new)
    if old is not None:
        kept, changed = (new, old) if write.status else (old, new)
        status = kept.get("status")
        new = {name: field for name, field in changed.items() if name != "status"}
        new |= {"status": status} if status is not None else {}
    errors = violations(kind, new, old) if kind in (*SERVED, *OWN) else []
    if errors:
        return "schema", [str(error) for error in errors]
    said = _webhooks(new, old, "status" if write.status else "")
    return ("", []) if said.allowed else ("webhook", _each(said.message))


def _read(kind: str, wire: Object) -> Object:
    return with_defaults(kind, prune(kind, wire)) if kind in (*SERVED, *OWN) else wire


def _webhooks(new: Object, old: Object | None, subresource: str) -> Answer:
    operation: Operation = "CREATE" if old is None else "UPDATE"
    request = Request(operation, new["metadata"].get("namespace", ""), new, old, subresource)
    for hook in hooks_for(new["kind"], operation, subresource):
        if hook.verb == "validate" and not (said := answer(hook.path, request, NobodyElse())).allowed:
            return said
    return Answer()


def _each(message: str) -> list[str]:
    aggregated = re.fullmatch(r"\[(.*)\]", message)
    return re.split(r", (?=(?:metadata|spec|status)[.\[])", aggregated[1]) if aggregated else [message]
