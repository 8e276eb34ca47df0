"""Writes by kind, from the API server's own count of requests."""

import re
from collections import Counter
from collections.abc import Mapping

from hack.cluster import Api

_LINE = re.compile(r"^apiserver_request_total\{(?P<labels>[^}]*)\} (?P<value>\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_WRITES = frozenset({"POST", "PUT", "PATCH", "APPLY", "DELETE"})

# "workloads/status PATCH", "… (409)" for those that were refused
Counts = Mapping[str, int]


def counted(api: Api) -> Counter[str]:
    """All writes so far. Reviews of access are no writes, though they are asked with POST."""
    found: Counter[str] = Counter()
    for line in _LINE.finditer(api.text("GET", "/metrics")):
        labels = dict(_LABEL.findall(line["labels"]))
        if labels["verb"] not in _WRITES or labels.get("group", "").endswith("authorization.k8s.io"):
            continue
        if labels["resource"] == "tokenreviews" or labels.get("dry_run"):
            continue
        what = f"{labels['resource']}/{labels['subresource']}" if labels.get("subresource") else labels["resource"]
        code = labels["code"]
        found[f"{what} {labels['verb']}{'' if code.startswith('2') else f' ({code})'}"] += int(float(line["value"]))
    return found


def without_driver(counts: Counts, driver: Mapping[str, int]) -> dict[str, int]:
    """What is left when the driver's own writes are taken out: the contestant's, the only other one who writes."""
    left = Counter(counts)
    left["workloads POST"] -= driver["create"]
    left["workloads/status PATCH"] -= driver["finish"] + driver["release"]
    left["workloads/status PATCH (409)"] -= driver["conflict"]
    return {what: number for what, number in sorted(left.items()) if number}


def successful(counts: Counts) -> int:
    """Those that were not refused; the lease of a leader is no work on workloads."""
    return sum(number for what, number in counts.items() if "(" not in what and not what.startswith("leases"))
