"""Rules that a schema's keywords cannot say: each as CEL for the API server, beside the function that means the same.

The in-memory API server and the webhooks run the functions; tests hold both sides together on a real API server.
`self` and `old` are plain JSON; a rule that names `oldSelf` is only asked on an update. Messages are Kueue's: they are
what people and tools have learnt to read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from admission.model.topology_assignment import HOSTNAME

Holds = Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """`text` is CEL. `holds(self, old)` answers alike for every value that passed the schema."""

    text: str
    message: str
    holds: Holds

    @property
    def transition(self) -> bool:
        return "oldSelf" in self.text


IMMUTABLE = Rule("self == oldSelf", "field is immutable", lambda now, old: now == old)

# ClusterQueue and Cohort

SAME_RESOURCES = Rule(
    "self.flavors.all(flavor, size(flavor.resources) == size(self.coveredResources))",
    "flavors must have the same number of resources as the coveredResources",
    lambda now, _: all(len(flavor["resources"]) == len(now["coveredResources"]) for flavor in now["flavors"]),
)


def _limits(spec: Mapping[str, Any]) -> list[Any]:
    return [
        quota["borrowingLimit"]
        for group in spec.get("resourceGroups", ())
        for flavor in group["flavors"]
        for quota in flavor["resources"]
        if "borrowingLimit" in quota
    ]


def borrowing_needs(cohort: str) -> Rule:
    """`cohort`: the field that names it."""
    return Rule(
        f"has(self.{cohort}) || !has(self.resourceGroups) || self.resourceGroups.all(group, "
        "group.flavors.all(flavor, flavor.resources.all(quota, !has(quota.borrowingLimit))))",
        "borrowingLimit must be nil when cohort is empty",
        lambda now, _: cohort in now or not _limits(now),
    )


BORROWING_NEEDS_COHORT = borrowing_needs("cohortName")

PREFERENCE_NEEDS_SEARCH = Rule(
    "!has(self.preference) || (self.whenCanBorrow == 'TryNextFlavor' && self.whenCanPreempt == 'TryNextFlavor')",
    "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor",
    lambda now, _: (
        "preference" not in now
        or (now.get("whenCanBorrow") == "TryNextFlavor" and now.get("whenCanPreempt") == "TryNextFlavor")
    ),
)

BORROWING_NEEDS_RECLAIM = Rule(
    "self.reclaimWithinCohort != 'Never' || !has(self.borrowWithinCohort) || self.borrowWithinCohort.policy == 'Never'",
    "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
    lambda now, _: (
        now.get("reclaimWithinCohort") != "Never" or now.get("borrowWithinCohort", {}).get("policy", "Never") == "Never"
    ),
)

# ResourceFlavor

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

TAINT_EFFECT = Rule(
    "self.all(taint, taint.effect in ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])",
    "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'",
    lambda now, _: all(taint["effect"] in EFFECTS for taint in now),
)

TOLERATION_RULES = (
    Rule(
        "self.all(entry, has(entry.key) || (has(entry.operator) && entry.operator == 'Exists'))",
        "operator must be Exists when 'key' is empty, which means 'match all values and all keys'",
        lambda now, _: all("key" in entry or entry.get("operator") == "Exists" for entry in now),
    ),
    Rule(
        "self.all(entry, !has(entry.tolerationSeconds) || (has(entry.effect) && entry.effect == 'NoExecute'))",
        "effect must be 'NoExecute' when 'tolerationSeconds' is set",
        lambda now, _: all("tolerationSeconds" not in entry or entry.get("effect") == "NoExecute" for entry in now),
    ),
    Rule(
        "self.all(entry, !has(entry.operator) || entry.operator in ['Equal', 'Exists'])",
        "supported toleration values: 'Equal'(default), 'Exists'",
        lambda now, _: all(entry.get("operator", "Equal") in ("Equal", "Exists") for entry in now),
    ),
    Rule(
        "self.all(entry, !has(entry.value) || !has(entry.operator) || entry.operator != 'Exists')",
        "a value must be empty when 'operator' is 'Exists'",
        lambda now, _: all("value" not in entry or entry.get("operator") != "Exists" for entry in now),
    ),
    Rule(
        "self.all(entry, !has(entry.effect) || entry.effect in ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])",
        "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'",
        lambda now, _: all(entry.get("effect", "NoSchedule") in EFFECTS for entry in now),
    ),
)


def _kept_with_topology(field: str) -> Rule:
    return Rule(
        f"!has(oldSelf.topologyName) || (has(self.{field}) == has(oldSelf.{field}) && "
        f"(!has(self.{field}) || self.{field} == oldSelf.{field}))",
        f"{field} {'is' if field == 'topologyName' else 'are'} immutable when topologyName is set",
        lambda now, old: (
            "topologyName" not in old
            or ((field in now) == (field in old) and (field not in now or now[field] == old[field]))
        ),
    )


FLAVOR_RULES = (
    Rule(
        "!has(self.topologyName) || (has(self.nodeLabels) && size(self.nodeLabels) >= 1)",
        "at least one nodeLabel is required when topology is set",
        lambda now, _: "topologyName" not in now or bool(now.get("nodeLabels")),
    ),
    _kept_with_topology("nodeLabels"),
    _kept_with_topology("tolerations"),
    _kept_with_topology("topologyName"),
)

# Topology

LEVEL_RULES = (
    Rule(
        "self.all(level, self.exists_one(other, other.nodeLabel == level.nodeLabel))",
        "must be unique",
        lambda now, _: len({level["nodeLabel"] for level in now}) == len(now),
    ),
    Rule(
        f"self.all(level, level.nodeLabel != '{HOSTNAME}') || self[size(self) - 1].nodeLabel == '{HOSTNAME}'",
        f"the {HOSTNAME} label can only be used at the lowest level of topology",
        lambda now, _: now[-1]["nodeLabel"] == HOSTNAME or all(level["nodeLabel"] != HOSTNAME for level in now),
    ),
)

ALL = (
    IMMUTABLE,
    SAME_RESOURCES,
    BORROWING_NEEDS_COHORT,
    PREFERENCE_NEEDS_SEARCH,
    BORROWING_NEEDS_RECLAIM,
    TAINT_EFFECT,
    *TOLERATION_RULES,
    *FLAVOR_RULES,
    *LEVEL_RULES,
)
