"""JobKind: another kind of job, described by where in its manifest things lie and what its status means.

Places and expressions are read once, when the JobKind is; they are asked for every job of the kind.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, NamedTuple

from admission.model.workload import Condition


class Every(Enum):
    """The step `[*]`: each entry of a list, or each member of a map in the order of their names."""

    EVERY = "*"


class Where(NamedTuple):
    """The step `[field=value]`: the entries of a list whose `field` says so. None: says the name of the pod set."""

    field: str
    value: str | None


Step = str | int | Every | Where


class Place(NamedTuple):
    """A place in a manifest. `from_entry`: counted from the entry of `forEach`, not from the manifest."""

    steps: tuple[Step, ...]
    from_entry: bool = False


@dataclass(frozen=True, slots=True)
class Stated:
    """What lies at a place, or `default` where nothing does."""

    place: Place
    default: int | None = None


@dataclass(frozen=True, slots=True)
class Combined:
    """Of all that say something; one that says nothing does not count."""

    how: Literal["product", "sum", "min", "max"]
    of: tuple["Expression", ...]


Expression = int | Stated | Combined


@dataclass(frozen=True, slots=True)
class ConditionTest:
    """A condition of this type has one of the states; with `reasons`, for one of these reasons, too."""

    type: str
    status: str = "True"
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueTest:
    """One of these asked of what an expression gives: among `values`, set and not among `others`, at least so many, or
    merely there (or not)."""

    of: Expression
    values: tuple[Any, ...] | None = None
    others: tuple[Any, ...] | None = None
    at_least: Expression | None = None
    there: bool | None = None


Test = ConditionTest | ValueTest


class Ending(NamedTuple):
    test: Test
    message: Place | None = None


class Elsewhere(NamedTuple):
    """A pod template in another object. `ref`: where the job names it, by a text or by a mapping with `name`; `kind`:
    as `model.kinds.kind_of` takes it; `place`: in that object, and `path`: as that was written."""

    ref: Place
    kind: str
    place: Place
    path: str


@dataclass(frozen=True, slots=True)
class PodSetRule:
    """One pod set, or with `for_each` one for each entry of a list or map.

    The pods are made from `template` or, when `bare`, from a mere pod spec there; or from a template `elsewhere`.
    `requests` are what the kind states outside of it: they take the place of those of the container.
    """

    for_each: Place | None = None
    keys: tuple[str, ...] = ()  # of a map: these before the others, in this order
    name: str | Place = ""  # "": of an entry of a map, its key
    count: Expression = 1
    default: int = 1
    min_count: Expression | None = None
    template: Place | None = None
    bare: bool = False
    elsewhere: Elsewhere | None = None
    requests: Mapping[str, Expression | str] = field(default_factory=dict)  # a text is a quantity
    container: str = ""  # whose requests; "": the first one's
    optional: bool = False  # there is no such pod set where the template is missing
    reclaimable: Expression | None = None


@dataclass(frozen=True, slots=True)
class Suspension:
    """The field that holds a job. `while_set`: whatever it says, and only `held` is our own doing."""

    path: tuple[str, ...]
    held: Any = True
    released: Any = False
    while_set: bool = False


class FormerHold(NamedTuple):
    """What held jobs before `spec.suspend` was changed. `until`: seconds since 1970, jobs that were made later were
    never held by it; None: nobody has noted yet when that was."""

    suspension: Suspension
    until: float | None


@dataclass(frozen=True, slots=True)
class JobKindRules:
    """All that is known of jobs of the kind; None where nothing is said."""

    suspension: Suspension
    pod_sets: tuple[PodSetRule, ...]
    stop: Literal["Suspend", "Delete", "Never"] = "Suspend"
    priority_class: Place | None = None
    queue: Place | None = None
    generated_labels: tuple[str, ...] = ()
    started: Test | None = None
    active: Test | None = None
    pods_ready: Test | None = None
    on_hold: Test | None = None
    succeeded: Ending | None = None
    failed: Ending | None = None


@dataclass(frozen=True, slots=True)
class JobKind:
    """`kind`: as `model.kinds.kind_of` takes it. Without `rules` it cannot be used, and `problem` says why."""

    name: str
    kind: str = ""
    uid: str = ""
    resource_version: int = 0
    generation: int = 1
    deleting: bool = False
    rules: JobKindRules | None = None
    problem: str = ""
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    noted: Suspension | None = None  # what its status says that holds its jobs
    former: tuple[FormerHold, ...] = ()  # the newest first


class Standing(NamedTuple):
    """What its condition Active should say."""

    active: bool
    reason: str
    message: str


def ready(kind: str) -> Standing:
    return Standing(True, "Ready", f"Jobs of kind {_shown(kind)} are queued")


def invalid(problem: str) -> Standing:
    return Standing(False, "Invalid", problem)


def not_served(kind: str) -> Standing:
    """The API server knows no such kind."""
    stated, _, plural = kind.partition(":")
    name, _, rest = stated.partition(".")
    version, _, group = rest.partition(".")
    return Standing(
        False,
        "KindNotServed",
        f"The API server does not serve {plural or f'kind {name}'} of {group}/{version}: install its "
        "CustomResourceDefinition, or mend spec.kind or spec.plural",
    )


def forbidden(kind: str, verb: str) -> Standing:
    """`verb`: what was refused, like list."""
    return Standing(False, "Forbidden", unseen(kind, verb))


def unseen(kind: str, verb: str = "list") -> str:
    """What to do about objects that may not be looked at."""
    return (
        f"The controller may not {verb} objects of kind {_shown(kind)}: apply a ClusterRole for them with the label "
        f'{AGGREGATE_LABEL}: "true"'
    )


def no_templates(kind: str, allowed: bool) -> Standing:
    """Jobs are made from templates in objects of this kind, and none of those can be seen."""
    if not allowed:
        return Standing(False, "TemplatesForbidden", unseen(kind))
    return Standing(
        False,
        "TemplatesNotServed",
        f"The API server does not serve kind {_shown(kind)}, in which the pod templates lie: install its "
        "CustomResourceDefinition, or mend the podSets' template.from",
    )


def conflict(kind: str, other: str) -> Standing:
    """`other`: the JobKind that has the kind; "": it is built in."""
    if not other:
        return Standing(False, "Conflict", f"Jobs of kind {_shown(kind)} are built in: delete this JobKind")
    message = f"JobKind {other} describes kind {_shown(kind)} already: delete one of the two"
    return Standing(False, "Conflict", message)


# On Workloads of described kinds: by which rules for pod sets the job was read last, and what it asked for by them if
# that is not what the Workload says, because its kind was described anew while it ran. Digests, ours to write.
DESCRIBED_BY, ASKS_BY_NOW = "lockgate.dev/described-by", "lockgate.dev/asks-by-now"

# ClusterRoles with it add to what the controller and the webhooks may do.
AGGREGATE_LABEL = "rbac.lockgate.dev/aggregate-to-controller"


def _shown(kind: str) -> str:
    return kind.partition(":")[0]
