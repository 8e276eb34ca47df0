"""QueuePolicy JSON -> QueuePolicy, and all that is wrong with one: the webhooks refuse what this reader cannot use."""

from collections.abc import Iterator, Mapping
from typing import Any

from admission.api.field_errors import FieldError, forbidden, invalid, required
from admission.model.amounts import BadQuantity, amount
from admission.model.durations import duration
from admission.model.queue_policy import Budget, Limit, Manners, People, QueuePolicy, QuotaShrink, Target, Use
from admission.readers.metadata import read_conditions, read_metadata
from admission.readers.narrow import entries, integer, mapping, maybe_integer, text, tuple_of, words
from admission.readers.own_spec import spec_errors
from admission.readers.quotas import read_amount

_WITHIN = ("running", "pending", "resources", "maxPriority", "podsPerWorkload", "maxRuntime")


def read_queue_policy(wire: Mapping[str, Any]) -> QueuePolicy:
    """Total: any JSON object gives a QueuePolicy; one that cannot be used says nothing but why."""
    meta = read_metadata(wire)
    spec, status = mapping(wire.get("spec")), mapping(wire.get("status"))
    errors = policy_errors(wire)
    target = mapping(spec.get("target"))
    return QueuePolicy(
        name=meta.name,
        target=Target(text(target.get("kind")), text(target.get("name")), text(target.get("namespace"))),
        manners=Manners() if errors else _manners(spec),
        problem="; ".join(str(error) for error in errors),
        uid=meta.uid,
        resource_version=meta.resource_version,
        generation=meta.generation,
        deleting=meta.deleting,
        conditions=read_conditions(status.get("conditions")),
        users=tuple_of(_use, status.get("users")),
    )


def policy_errors(wire: Mapping[str, Any]) -> list[FieldError]:
    """All that is wrong with its spec, in the order of its fields."""
    return spec_errors("QueuePolicy", wire, _faults)


def _manners(spec: Mapping[str, Any]) -> Manners:
    """Of a spec without errors."""
    preemption, budget = mapping(spec.get("preemption")), mapping(mapping(spec.get("preemption")).get("budget"))
    shrink, submit = mapping(spec.get("quotaShrink")), spec.get("submit")
    label = text(mapping(spec.get("nonPreemptible")).get("label"))
    key, _, value = label.partition("=")
    return Manners(
        min_runtime=_seconds(preemption.get("minRuntime")),
        reclaim_min_runtime=_seconds(preemption.get("reclaimMinRuntime")),
        budget=Budget(integer(budget.get("evictions")), duration(text(budget.get("per")))) if budget else None,
        hold_freed_quota=_seconds(preemption.get("holdFreedQuota")),
        non_preemptible=(key, value) if label else None,
        quota_shrink=(
            QuotaShrink(duration(text(shrink.get("after"))), text(shrink.get("order"), "BorrowedFirst"))
            if shrink
            else None
        ),
        strict_fifo_scope=text(spec.get("strictFIFOScope")) or None,
        submit=None if submit is None else _people(mapping(submit)),
        max_pending=maybe_integer(spec.get("maxPending")),
        limits=None if spec.get("limits") is None else tuple_of(_limit, spec.get("limits")),
    )


def _limit(row: Mapping[str, Any]) -> Limit:
    runtime = _seconds(row.get("maxRuntime"))
    return Limit(
        people=_people(row),
        running=maybe_integer(row.get("running")),
        pending=maybe_integer(row.get("pending")),
        resources={
            name: read_amount(name, stated) or 0 for name, stated in sorted(mapping(row.get("resources")).items())
        },
        max_priority=maybe_integer(row.get("maxPriority")),
        pods_per_workload=maybe_integer(row.get("podsPerWorkload")),
        max_runtime=None if runtime is None else max(1, int(runtime)),
    )


def _people(stated: Mapping[str, Any]) -> People:
    return People(words(stated.get("users")), words(stated.get("groups")))


def _seconds(stated: object) -> float | None:
    return duration(stated) if isinstance(stated, str) else None


def _use(wire: Mapping[str, Any]) -> Use:
    resources = mapping(wire.get("resources"))
    amounts = tuple(sorted((name, read_amount(name, stated) or 0) for name, stated in resources.items()))
    return Use(text(wire.get("name")), integer(wire.get("running")), integer(wire.get("pending")), amounts)


def _faults(spec: Mapping[str, Any]) -> Iterator[FieldError]:
    """Of a spec whose structure is right."""
    target = mapping(spec.get("target"))
    if target.get("kind") == "LocalQueue" and not target.get("namespace"):
        yield required("spec.target.namespace", "say where the LocalQueue is")
    if target.get("kind") != "LocalQueue" and target.get("namespace"):
        yield forbidden("spec.target.namespace", f"a {target.get('kind')} is in no namespace: leave it out")
    preemption = mapping(spec.get("preemption"))
    for name in ("minRuntime", "reclaimMinRuntime", "holdFreedQuota"):
        yield from _wrong_duration(f"spec.preemption.{name}", preemption.get(name))
    if mapping(preemption.get("budget")):
        yield from _wrong_duration("spec.preemption.budget.per", preemption["budget"]["per"], zero=False)
    yield from _wrong_duration("spec.quotaShrink.after", mapping(spec.get("quotaShrink")).get("after"))
    submit = spec.get("submit")
    if submit is not None and not (mapping(submit).get("users") or mapping(submit).get("groups")):
        yield required("spec.submit", "name users or groups, or leave it out to let everybody")
    for at, row in enumerate(entries(spec.get("limits"))):
        yield from _wrong_row(f"spec.limits[{at}]", row)


def _wrong_row(path: str, row: Mapping[str, Any]) -> Iterator[FieldError]:
    if not (row.get("users") or row.get("groups")):
        yield required(path, 'say whom it limits: users: ["*"] is each user on its own')
    if not any(name in row for name in _WITHIN):
        yield required(path, f"say what it limits: one of {', '.join(_WITHIN)}")
    for name, stated in mapping(row.get("resources")).items():
        where = f"{path}.resources[{name}]"
        try:
            negative = amount(name, str(stated)) < 0
        except BadQuantity as problem:
            yield invalid(where, stated, str(problem))
        else:
            if negative:
                yield invalid(where, stated, "must be 0 or more")
    yield from _wrong_duration(f"{path}.maxRuntime", row.get("maxRuntime"), least=1.0)


def _wrong_duration(path: str, stated: object, *, zero: bool = True, least: float = 0.0) -> Iterator[FieldError]:
    if not isinstance(stated, str):
        return
    try:
        seconds = duration(stated)
    except ValueError as problem:
        yield invalid(path, stated, str(problem))
        return
    if not zero and not seconds:
        yield invalid(path, stated, "must be longer than 0, like 10m")
    if seconds < least:
        yield invalid(path, stated, "must be at least 1s")
