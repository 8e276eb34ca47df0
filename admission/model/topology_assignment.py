"""The domains that pods go to, as v1beta2 writes them down: slices, in which what domains have in common is said once.

How domains are put into slices is free; this is Kueue's way, so that both write the same of the same domains.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

HOSTNAME = "kubernetes.io/hostname"  # the level of single nodes
# What the schema allows of each. No object that etcd takes (1.5 MiB) names as many domains as ALL_DOMAINS, but a few
# bytes can claim billions.
SLICE_DOMAINS, SLICES, ALL_DOMAINS = 100_000, 1_000, 400_000


class Domain(NamedTuple):
    """A place, by its values level by level, and how many pods go there."""

    values: tuple[str, ...]
    pods: int


class BadAssignment(ValueError):
    """Slices that contradict themselves; the message names the field, below the assignment."""


def slices_of(levels: Sequence[str], domains: Sequence[Domain]) -> list[dict[str, Any]]:
    """The slices for domains, each with a value for each level.

    One slice, or one for each run of nodes whose names begin alike: what is shorter as JSON.
    """
    split = [
        _slice(len(levels), run[start : start + SLICE_DOMAINS])
        for run in _runs(levels, domains)
        for start in range(0, len(run), SLICE_DOMAINS)
    ]
    if len(split) <= 1 or len(domains) > SLICE_DOMAINS:
        return split
    whole = [_slice(len(levels), domains)]
    return whole if len(msgspec.json.encode(whole)) < len(msgspec.json.encode(split)) else split


def domains_of(assignment: Mapping[str, Any]) -> list[Domain]:
    """The domains of a `topologyAssignment`, in order. Raises BadAssignment."""
    found: list[Domain] = []
    try:
        levels, slices = len(assignment["levels"]), assignment["slices"]
        total = sum(max(part["domainCount"], 0) for part in slices)
        if total > ALL_DOMAINS:
            raise BadAssignment(f"slices: {total} domains: at most {ALL_DOMAINS} can be written out")
        for index, part in enumerate(slices):
            count = part["domainCount"]
            if len(part["valuesPerLevel"]) != levels:
                raise BadAssignment(f"slices[{index}].valuesPerLevel: {levels} levels need as many entries")
            columns = [_expanded(values, count) for values in part["valuesPerLevel"]]
            pods = part["podCounts"].get("individual")
            counts = [part["podCounts"]["universal"]] * count if pods is None else pods
            if any(len(each) != count for each in (*columns, counts)):
                raise BadAssignment(f"slices[{index}]: {count} domains need as many roots and podCounts")
            found += map(Domain, zip(*columns, strict=True), counts)
    except (KeyError, TypeError, AttributeError) as error:
        raise BadAssignment("slices: not of the shape that the schema has") from error
    return found


def _expanded(values: Mapping[str, Any], count: int) -> list[str]:
    individual = values.get("individual")
    if individual is None:
        return [values["universal"]] * count
    prefix, suffix = individual.get("prefix") or "", individual.get("suffix") or ""
    return [prefix + root + suffix for root in individual["roots"]]


def _slice(levels: int, domains: Sequence[Domain]) -> dict[str, Any]:
    counts = [domain.pods for domain in domains]
    same = counts.count(counts[0]) == len(counts)
    return {
        "domainCount": len(domains),
        "valuesPerLevel": [_values([domain.values[level] for domain in domains]) for level in range(levels)],
        "podCounts": {"universal": counts[0]} if same else {"individual": counts},
    }


def _values(values: Sequence[str]) -> dict[str, Any]:
    if values.count(values[0]) == len(values):
        return {"universal": values[0]}
    prefix = _shared(values)
    suffix = _shared([value[::-1] for value in values])[::-1]
    shortest = min(map(len, values))
    prefix = prefix[: shortest - len(suffix)]  # in "aba" and "ababa" the two would overlap
    individual: dict[str, Any] = {}
    if prefix:
        individual["prefix"] = prefix
    if suffix:
        individual["suffix"] = suffix
    return {"individual": individual | {"roots": [value[len(prefix) : len(value) - len(suffix)] for value in values]}}


def _shared(values: Sequence[str]) -> str:
    """How all of them begin."""
    low, high = min(values), max(values)
    same = 0
    while same < len(low) and low[same] == high[same]:
        same += 1
    return low[:same]


def _runs(levels: Sequence[str], domains: Sequence[Domain]) -> Iterator[Sequence[Domain]]:
    """Domains that follow each other and go well into one slice."""
    if not domains:
        return
    keys = _prefixes([domain.values[-1] for domain in domains]) if levels and levels[-1] == HOSTNAME else None
    if keys is None:
        yield domains
        return
    start = 0
    for _, run in groupby(keys):
        end = start + sum(1 for _ in run)
        yield domains[start:end]
        start = end


def _prefixes(names: Sequence[str]) -> list[str] | None:
    """For each name the longest beginning up to a "-" that another name has too, "" without one; shortened for all
    until they make few enough slices. None: no length does."""
    candidates = [_beginnings(name) for name in names]
    known = Counter(prefix for prefixes in candidates for prefix in prefixes)
    for depth in range(max(map(len, candidates)), 0, -1):
        keys = [next((p for p in reversed(prefixes[:depth]) if known[p] > 1), "") for prefixes in candidates]
        if sum(-(-sum(1 for _ in run) // SLICE_DOMAINS) for _, run in groupby(keys)) <= SLICES:
            return keys
    return None


def _beginnings(name: str) -> list[str]:
    return [name[: at + 1] for at, letter in enumerate(name[:-1]) if letter == "-"]
