"""Quantities and resource groups as ClusterQueues and Cohorts state them."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from admission.model.amounts import BadQuantity, amount, exact
from admission.model.queues import FlavorQuotas, Quota, ResourceGroup
from admission.readers.narrow import entries, mapping, tuple_of, word, words


def read_amount(resource: str, stated: object) -> int | None:
    """Units of a stated quantity, at least 0; None where there is none, or none that can be read."""
    if not isinstance(stated, str | int | float) or isinstance(stated, bool):
        return None
    try:
        return max(amount(resource, stated), 0)
    except BadQuantity:
        return None


def read_groups(value: object) -> tuple[ResourceGroup, ...]:
    """`spec.resourceGroups`."""
    return tuple_of(_group, value)


def read_weight(spec: Mapping[str, Any]) -> Fraction:
    """`spec.fairSharing.weight`, exact and at least 0; 1 where there is none, or none that can be read."""
    stated = mapping(spec.get("fairSharing")).get("weight")
    if not isinstance(stated, str | int | float) or isinstance(stated, bool):
        return Fraction(1)
    try:
        return max(exact(str(stated)), Fraction(0))
    except BadQuantity:
        return Fraction(1)


def _group(wire: Mapping[str, Any]) -> ResourceGroup:
    return ResourceGroup(words(wire.get("coveredResources")), tuple_of(_flavor, wire.get("flavors")))


def _flavor(wire: Mapping[str, Any]) -> FlavorQuotas:
    quotas = {}
    for entry in entries(wire.get("resources")):
        resource = word(entry.get("name"))
        quotas[resource] = Quota(
            read_amount(resource, entry.get("nominalQuota")) or 0,
            _limit(resource, entry.get("borrowingLimit")),
            _limit(resource, entry.get("lendingLimit")),
        )
    return FlavorQuotas(word(wire.get("name")), quotas)


def _limit(resource: str, stated: object) -> int | None:
    # Only a missing limit means "unlimited"; one that cannot be read must not.
    return None if stated is None else read_amount(resource, stated) or 0
