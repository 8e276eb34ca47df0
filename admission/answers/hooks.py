"""Which writes pass which webhook, at Kueue's own names and URL paths. Kinds that Kueue has not follow its rule.

The hooks of what is built in stand here whether or not a cluster serves the kinds; those of a described kind are made
from its name.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from admission.answers.request import Operation
from admission.jobs.registry import JobKinds
from admission.model.kinds import JOBS, KINDS, KUEUE, LOCKGATE, kind_of

Verb = Literal["mutate", "validate"]


@dataclass(frozen=True, slots=True)
class Hook:
    """One URL path. `resources` with a slash are subresources."""

    name: str
    path: str
    verb: Verb
    kind: str  # as in `Ref.kind`
    group: str
    version: str
    resources: tuple[str, ...]
    operations: tuple[Operation, ...]

    @property
    def of_jobs(self) -> bool:
        """Whether what passes is a job, and no queue or Workload."""
        return self.kind != "Pod" and self.group not in (KUEUE, LOCKGATE, KINDS["ElasticQuota"].group)


def _hook(verb: Verb, name: str, *operations: Operation, status: bool = False, domain: str = "kb.io") -> Hook:
    kind = kind_of(name)
    lowered = kind.kind.lower()
    # Among kinds that people describe there may be two whose groups differ in a dot alone.
    group = kind.group.replace(".", "-") if name in KINDS else kind.group
    path = f"/{verb}-{group}-{kind.version}-{lowered}"
    resources = (kind.plural, f"{kind.plural}/status") if status else (kind.plural,)
    return Hook(f"{verb[0]}{lowered}.{domain}", path, verb, name, kind.group, kind.version, resources, operations)


@lru_cache(1024)
def job_hooks(kind: str) -> tuple[Hook, Hook]:
    """What mutates and what validates jobs of a kind."""
    # Groups tell kinds of one name apart, and the API server wants names of three parts at least.
    domain = "kb.io" if kind in KINDS else f"{kind_of(kind).group}.{DESCRIBED}"
    return _hook("mutate", kind, "CREATE", "UPDATE", domain=domain), _hook(
        "validate", kind, "CREATE", "UPDATE", domain=domain
    )


DESCRIBED = "lockgate.dev"  # where the names of the webhooks of described kinds end

POD_HOOKS = (_hook("mutate", "Pod", "CREATE"), _hook("validate", "Pod", "CREATE", "UPDATE"))

HOOKS: tuple[Hook, ...] = (
    _hook("mutate", "ClusterQueue", "CREATE"),
    _hook("mutate", "ResourceFlavor", "CREATE"),
    _hook("mutate", "Workload", "CREATE"),
    _hook("validate", "ClusterQueue", "CREATE", "UPDATE"),
    _hook("validate", "Cohort", "CREATE", "UPDATE"),
    _hook("validate", "ResourceFlavor", "CREATE", "UPDATE"),
    _hook("validate", "Workload", "CREATE", "UPDATE", status=True),
    _hook("mutate", "ElasticQuota", "CREATE", domain=DESCRIBED),
    _hook("validate", "ElasticQuota", "CREATE", "UPDATE", "DELETE", domain=DESCRIBED),
    _hook("validate", "JobKind", "CREATE", "UPDATE", domain=DESCRIBED),
    _hook("validate", "JobProfile", "CREATE", "UPDATE", domain=DESCRIBED),
    _hook("validate", "QueuePolicy", "CREATE", "UPDATE", domain=DESCRIBED),
    *(hook for kind in JOBS for hook in job_hooks(kind)),
    *POD_HOOKS,
)

_BY_PATH = {hook.path: hook for hook in HOOKS}
_BY_KIND = {hook.kind: tuple(each for each in HOOKS if each.kind == hook.kind) for hook in HOOKS}


def hook_at(path: str, kinds: JobKinds) -> Hook | None:
    """The hook of a URL path; None: nobody is served there."""
    built_in = _BY_PATH.get(path)
    if built_in is not None:
        return built_in
    described = (hook for kind in kinds if kind not in KINDS for hook in job_hooks(kind))
    return next((hook for hook in described if hook.path == path), None)


def hooks_for(kind: str, operation: Operation, subresource: str = "") -> tuple[Hook, ...]:
    """The webhooks such a write passes: those that mutate first. A kind that is spelled out is taken for a job's."""
    found = _BY_KIND.get(kind) or (job_hooks(kind) if "." in kind else ())
    return tuple(
        hook
        for hook in found
        if operation in hook.operations
        and (f"{hook.resources[0]}/{subresource}" if subresource else hook.resources[0]) in hook.resources
    )
