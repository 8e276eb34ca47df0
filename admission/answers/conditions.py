"""matchConditions in CEL: what the rules would let pass anyway costs the API server a comparison instead of a call.

Objects that name no queue never leave the API server on their way through an entry that could stop them.
"""

import json

from admission.jobs.hold import Hold
from admission.model.elastic_quota import NAMESPACES, WEIGHT
from admission.model.names import QUEUE_NAME, STAMPED, WORKLOAD_ANNOTATION
from admission.stamping.colocation import COLOCATION

Condition = tuple[str, str]  # name, CEL

_LABELS = "(has({0}.metadata.labels) ? {0}.metadata.labels : {{}})"
_ANNOTATIONS = "(has({0}.metadata.annotations) ? {0}.metadata.annotations : {{}})"
_SPEC = "(has({0}.spec) ? {0}.spec : {{}})"
_NEAR = (
    "has({0}.spec.template.metadata) && has({0}.spec.template.metadata.annotations) && "
    "{0}.spec.template.metadata.annotations.exists(name, name.startsWith('kueue.x-k8s.io/podset-'))"
)
_PODS = "[{0}.spec.parallelism, has({0}.spec.completions) ? {0}.spec.completions : -1]"
_SUSPENDED = "(has({0}.spec.suspend) && {0}.spec.suspend)"
_NAMES_QUEUE = f"has({{0}}.metadata.labels) && '{QUEUE_NAME}' in {{0}}.metadata.labels"
_STARTED = (
    "has(object.spec.template.metadata) && has(object.spec.template.metadata.annotations) && "
    f"'{WORKLOAD_ANNOTATION}' in object.spec.template.metadata.annotations"
)
_TEMPLATE_NOTES = "oldObject.spec.template.metadata.annotations"
_STAMPED_BEFORE = (
    f"has(oldObject.spec.template.metadata) && has({_TEMPLATE_NOTES}) && "
    f"('{STAMPED}' in {_TEMPLATE_NOTES} || '{COLOCATION}' in {_TEMPLATE_NOTES})"
)
_CREATES = "request.operation == 'CREATE'"
# A request for the object itself has no such key at all, and CEL fails on what is missing.
_OF_STATUS = "(has(request.subResource) && request.subResource == 'status')"


def _differ(*parts: str) -> str:
    return " || ".join(f"{part.format('object')} != {part.format('oldObject')}" for part in parts)


ALIVE: Condition = ("is-not-being-deleted", "!has(object.metadata.deletionTimestamp)")
NEW: Condition = ("is-new", _CREATES)
QUEUED: Condition = ("names-a-queue", _NAMES_QUEUE.format("object"))
UNQUEUED: Condition = ("names-no-queue", f"!({_NAMES_QUEUE.format('object')})")
EVER_QUEUED: Condition = (
    "names-or-named-a-queue",
    f"({_NAMES_QUEUE.format('object')}) || (oldObject != null && {_NAMES_QUEUE.format('oldObject')})",
)
POD_CHANGED: Condition = ("changes-what-is-checked", f"{_CREATES} || {_differ(_LABELS, _SPEC)}")
SPEC_CHANGED: Condition = ("changes-its-spec", f"{_CREATES} || {_differ(_SPEC)}")
_QUOTA_NOTES = (
    "["
    + ", ".join(f"'{name}' in {_ANNOTATIONS} ? {_ANNOTATIONS}['{name}'] : ''" for name in (NAMESPACES, WEIGHT))
    + "]"
)
# Figures are published all the time, by us and by Koordinator's scheduler.
QUOTA_CHANGED: Condition = (
    "changes-what-is-checked",
    f"{_CREATES} || request.operation == 'DELETE' || {_differ(_SPEC, _LABELS, _QUOTA_NOTES)}",
)
QUOTA_ALIVE: Condition = (
    "is-not-being-deleted", "request.operation == 'DELETE' || !has(object.metadata.deletionTimestamp)",
)  # fmt: skip
WORKLOAD_CHANGED: Condition = (
    "changes-what-is-checked",
    f"{_CREATES} || {_OF_STATUS} || {_differ(_SPEC, _ANNOTATIONS)}",
)


def new_or_released(kind: str, hold: Hold) -> Condition:
    """A new job, or one that changes: somebody may be letting it go, or take away what its templates were stamped with.
    `kind`: as in `Ref.kind`.

    A batch Job has one template, which no second apply replaces: what matters of it is the hold, and the pod in a
    template that was stamped. The product's own starts are left out too, as there are many and that template is easy to
    find.
    """
    if kind == "Job":
        was, is_ = _SUSPENDED.format("oldObject"), _SUSPENDED.format("object")
        applied = f"{_STAMPED_BEFORE} && object.spec.template.spec != oldObject.spec.template.spec"
        by_hand = f"(({was} && !{is_}) || ({applied})) && !({_STARTED})"
        return "is-new-or-changed-by-hand", f"{_CREATES} || ({by_hand})"
    return "is-new-or-changed", f"{_CREATES} || {_differ(_member(hold), _SPEC)}"


def changed(kind: str) -> Condition:
    """A job of which something is new that is judged."""
    name = "changes-what-is-checked"
    if kind == "Job":
        return name, f"{_CREATES} || {_differ(_LABELS, _ANNOTATIONS, _PODS)} || ({_NEAR.format('object')})"
    return name, f"{_CREATES} || {_differ(_LABELS, _ANNOTATIONS, _SPEC)}"


def _member(hold: Hold) -> str:
    """What the field says, or null. Members are asked for by `in`, which takes every name: `has` only takes some."""
    terms, here = [], "{0}"
    for part in hold.path:
        member = json.dumps(str(part)).replace("{", "{{").replace("}", "}}")
        terms.append(f"{member} in {here}")
        here = f"{here}[{member}]"
    return f"({' && '.join(terms)} ? {here} : null)"
