"""Resource groups and weights: what cluster queues and cohorts have in common."""

from collections.abc import Iterator
from fractions import Fraction

import msgspec

from admission.api.field_errors import FieldError, duplicate, invalid
from admission.model.amounts import BadQuantity, exact
from admission.validation.syntax import NEGATIVE, label_key

Number = str | int | float  # a quantity as JSON may hold it

_MOST_FLAVORS = 256  # of all groups together; with the two below it bounds what one nomination has to look at
_MOST_RESOURCES = 256
_MOST_COMBINATIONS = 512  # flavors x resources of one group
_SMALLEST_WEIGHT = Fraction(1, 10**9)  # Kueue keeps weights with nine decimals; below, a share would collapse to zero


class Quota(msgspec.Struct, rename="camel"):
    name: str = ""
    nominal_quota: Number = 0
    borrowing_limit: Number | None = None
    lending_limit: Number | None = None


class Flavor(msgspec.Struct):
    name: str = ""
    resources: list[Quota] = []


class Group(msgspec.Struct, rename="camel"):
    covered_resources: list[str] = []
    flavors: list[Flavor] = []


class FairSharing(msgspec.Struct):
    weight: Number | None = None


class Rules(msgspec.Struct, frozen=True):
    """`above` is what limits refer to, as Kueue calls it: a queue's "cohort", a cohort's "parent"."""

    above: str
    has_above: bool
    lending_within_nominal: bool


def check_groups(path: str, groups: list[Group], rules: Rules) -> list[FieldError]:
    """Names unique over all groups, quotas in the order of the covered resources, limits that make sense."""
    errors: list[FieldError] = []
    resources: set[str] = set()
    flavors: set[str] = set()
    for at, group in enumerate(groups):
        for index, resource in enumerate(group.covered_resources):
            here = f"{path}[{at}].coveredResources[{index}]"
            errors += label_key(here, resource)
            if resource in resources:
                errors.append(duplicate(here, resource))
            resources.add(resource)
        for index, flavor in enumerate(group.flavors):
            here = f"{path}[{at}].flavors[{index}]"
            errors += _flavor(here, flavor, group.covered_resources, rules)
            if flavor.name in flavors:
                errors.append(duplicate(f"{here}.name", flavor.name))
            flavors.add(flavor.name)
    return errors


def check_totals(path: str, groups: list[Group]) -> list[FieldError]:
    """How many flavors, resources and combinations a queue may have."""
    errors = []
    flavors = sum(len(group.flavors) for group in groups)
    if flavors > _MOST_FLAVORS:
        why = f"total number of flavors across all resourceGroups must be ≤ {_MOST_FLAVORS}, got {flavors}"
        errors.append(invalid(path, flavors, why))
    covered = sum(len(group.covered_resources) for group in groups)
    if covered > _MOST_RESOURCES:
        why = f"total number of covered resources across all resourceGroups must be ≤ {_MOST_RESOURCES}, got {covered}"
        errors.append(invalid(path, covered, why))
    for at, group in enumerate(groups):
        pairs = sum(len(flavor.resources) for flavor in group.flavors)
        if pairs > _MOST_COMBINATIONS:
            limit = f"must be ≤ {_MOST_COMBINATIONS}, got {pairs}"
            why = f"number of flavor-resource combinations in a resourceGroup {limit}"
            errors.append(invalid(f"{path}[{at}]", pairs, why))
    return errors


def check_weight(path: str, fair_sharing: FairSharing | None) -> list[FieldError]:
    """Zero is legal (it never gets a share of what is borrowed); a weight that rounds to zero is a mistake."""
    if fair_sharing is None or fair_sharing.weight is None:
        return []
    weight, errors = _quantity(f"{path}.weight", fair_sharing.weight)
    if weight is None:
        return errors
    if weight < 0:
        return [invalid(path, str(fair_sharing.weight), NEGATIVE)]
    if 0 < weight <= _SMALLEST_WEIGHT:
        return [invalid(path, str(fair_sharing.weight), "When not 0, weight must be > 10e-9")]
    return []


def non_negative(path: str, number: Number) -> list[FieldError]:
    value, errors = _quantity(path, number)
    return [invalid(path, str(number), NEGATIVE)] if value is not None and value < 0 else errors


def _flavor(path: str, flavor: Flavor, covered: list[str], rules: Rules) -> list[FieldError]:
    """The i-th quota is for the i-th covered resource; a count that differs is the schema's to refuse."""
    errors = []
    for index, (quota, resource) in enumerate(zip(flavor.resources, covered, strict=False)):
        here = f"{path}.resources[{index}]"
        if quota.name != resource:
            errors.append(invalid(f"{here}.name", quota.name, "must match the name in coveredResources"))
        errors += non_negative(f"{here}.nominalQuota", quota.nominal_quota)
        errors += _limits(here, quota, rules)
    return errors


def _limits(path: str, quota: Quota, rules: Rules) -> Iterator[FieldError]:
    for name, limit in (("borrowingLimit", quota.borrowing_limit), ("lendingLimit", quota.lending_limit)):
        if limit is None:
            continue
        here = f"{path}.{name}"
        if not rules.has_above:
            yield invalid(here, str(limit), f"must be nil when {rules.above} is empty")
        yield from non_negative(here, limit)
        if name == "lendingLimit" and rules.lending_within_nominal:
            lent, nominal = _quantity(here, limit)[0], _quantity(path, quota.nominal_quota)[0]
            if lent is not None and nominal is not None and lent > nominal:
                yield invalid(here, str(limit), "must be less than or equal to the nominalQuota")


def _quantity(path: str, number: Number) -> tuple[Fraction | None, list[FieldError]]:
    try:
        return exact(str(number)), []
    except BadQuantity as error:
        return None, [invalid(path, str(number), str(error))]
