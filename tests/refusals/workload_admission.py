"""Workload: the quota that it holds, and the domains that its pods go to."""

from typing import Any

from tests.refusals.objects import HOLDING, LONG_NAME, NO_NAME, NOT_A_NAME, assignment, names, pod_set, workload
from tests.refusals.row import ABSENT, Row, create, put

AT = "status.admission"
ASSIGNED = f"{AT}.podSetAssignments"
FIRST = f"{ASSIGNED}[0]"
PLACES = f"{FIRST}.topologyAssignment"
SLICE = f"{PLACES}.slices[0]"
VALUES = f"{SLICE}.valuesPerLevel"

PART = {
    "domainCount": 2,
    "podCounts": {"universal": 1},
    "valuesPerLevel": [{"individual": {"prefix": "n-", "roots": ["a", "b"]}}],
}
PLACED = put(HOLDING, {PLACES: {"levels": ["rack"], "slices": [PART]}})


def _quota() -> list[Row]:
    free = workload()
    many = [assignment(name) for name in names(19)]
    return [
        create("quota held is stated", HOLDING, AT, HOLDING["status"]["admission"], ABSENT,
               "Required value: must be set while the QuotaReserved condition is true", by="webhook"),
        create("a cluster queue's name is a subdomain", HOLDING, f"{AT}.clusterQueue", "a.b", NO_NAME, NOT_A_NAME),
        create("a cluster queue's name has at most 253 characters", HOLDING, f"{AT}.clusterQueue", "n" * 253,
               LONG_NAME, "Too long: may not be more than 253 bytes"),
        create("at most 18 assignments", free, ASSIGNED, many[:18], many, "must have at most 18 items"),
        create("assignments differ", free, ASSIGNED, many[:2], many[:1] * 2, 'Duplicate value: {"name":"n0"}',
               f"{ASSIGNED}[1]"),
        create("an assignment for each pod set", workload(pod_set("a"), pod_set("b")), "status",
               {**HOLDING["status"], "admission": {"podSetAssignments": [assignment("a"), assignment("b")]}},
               {**HOLDING["status"], "admission": {"podSetAssignments": [assignment("a")]}},
               "podSetAssignments must have the same number of podSets as the spec", "<nil>"),
        create("an assignment at all", HOLDING, ASSIGNED, [assignment()], ABSENT,
               "podSetAssignments must have the same number of podSets as the spec", "<nil>"),
        create("an assignment is for a pod set", HOLDING, f"{FIRST}.name", "main", "other", 'Not found: "other"',
               by="webhook"),
        create("an assignment's name is a label", free, ASSIGNED, [assignment("a-b")], [assignment("a.b")], NOT_A_NAME,
               f"{FIRST}.name"),
        create("an assignment's flavor is a subdomain", HOLDING, f"{FIRST}.flavors", {"cpu": "a.b"}, {"cpu": NO_NAME},
               NOT_A_NAME, f"{FIRST}.flavors.cpu"),
        create("usage is a quantity", HOLDING, f"{FIRST}.resourceUsage", {"cpu": "3"}, {"cpu": "three"}, NOT_A_NAME,
               f"{FIRST}.resourceUsage.cpu"),
        create("usage is the same for each pod", HOLDING, f"{FIRST}.resourceUsage", {"cpu": "3m", "memory": 3},
               {"cpu": "4m", "memory": 3}, 'Invalid value: "4m": is not a multiple of ',
               f"{FIRST}.resourceUsage[cpu]", "webhook"),
        create("a count of an assignment is not negative", HOLDING, f"{FIRST}.count", 0, -1,
               "should be greater than or equal to 0"),
        create("a delayed request waits or is ready", HOLDING, f"{FIRST}.delayedTopologyRequest", "Ready", "Done",
               'Unsupported value: "Done"'),
    ]  # fmt: skip


def _domains() -> list[Row]:
    def individual(roots: list[str], **fields: str) -> list[Any]:
        return [{"individual": {"roots": roots, **fields}}]

    levels = f"{PLACES}.levels"
    seventeen = [f"l{number}" for number in range(17)]
    wide = put(PLACED, {f"{PLACES}.slices": []})
    return [
        create("an assignment has levels", PLACED, PLACES, {"levels": ["rack"], "slices": [PART]}, {"slices": [PART]},
               "Required value", levels),
        create("an assignment has slices", PLACED, PLACES, {"levels": ["rack"], "slices": [PART]},
               {"levels": ["rack"]}, "Required value", f"{PLACES}.slices"),
        create("at least one level", wide, levels, ["rack"], [], "should have at least 1 items"),
        create("at most 16 levels", wide, levels, seventeen[:16], seventeen, "must have at most 16 items"),
        create("at most 1000 slices", PLACED, f"{PLACES}.slices", [PART] * 1000, [PART] * 1001,
               "must have at most 1000 items"),
        create("a slice has a domain", PLACED, f"{PLACES}.slices",
               [{"domainCount": 1, "podCounts": {"universal": 1}, "valuesPerLevel": [{"universal": "a"}]}],
               [{"domainCount": 0, "podCounts": {"universal": 1}, "valuesPerLevel": [{"universal": "a"}]}],
               "should be greater than or equal to 1", f"{SLICE}.domainCount"),
        create("a slice says how many domains", PLACED, f"{SLICE}.domainCount", 2, ABSENT, "Required value"),
        create("a slice says how many pods", PLACED, f"{SLICE}.podCounts", {"universal": 1}, ABSENT, "Required value"),
        create("a slice says which domains", PLACED, VALUES, PART["valuesPerLevel"], ABSENT, "Required value"),
        create("values of a level at least", PLACED, VALUES, PART["valuesPerLevel"], [],
               "should have at least 1 items"),
        create("values of at most 16 levels", PLACED, PLACES,
               {"levels": seventeen[:16], "slices": [{**PART, "valuesPerLevel": [{"universal": "a"}] * 16}]},
               {"levels": seventeen[:16], "slices": [{**PART, "valuesPerLevel": [{"universal": "a"}] * 17}]},
               "must have at most 16 items", VALUES),
        create("values for each level", PLACED, VALUES, [{"universal": "a"}], [{"universal": "a"}] * 2,
               "valuesPerLevel must have the same length as the number of levels in this TopologyAssignment", PLACES),
        create("values alike or each its own", PLACED, VALUES, [{"universal": "a"}], [{}],
               "exactly one of the fields in [universal individual] must be set", f"{VALUES}[0]"),
        create("a value of all has at most 63 characters", PLACED, VALUES, [{"universal": "n" * 63}],
               [{"universal": "n" * 64}], "Too long: may not be more than 63 bytes", f"{VALUES}[0].universal"),
        create("a prefix has at most 63 characters", PLACED, VALUES, individual(["a", "b"], prefix="n" * 63),
               individual(["a", "b"], prefix="n" * 64), "Too long: may not be more than 63 bytes",
               f"{VALUES}[0].individual.prefix"),
        create("a suffix has at most 63 characters", PLACED, VALUES, individual(["a", "b"], suffix="n" * 63),
               individual(["a", "b"], suffix="n" * 64), "Too long: may not be more than 63 bytes",
               f"{VALUES}[0].individual.suffix"),
        create("there are roots", PLACED, VALUES, individual(["a", "b"]), individual([]),
               "should have at least 1 items", f"{VALUES}[0].individual.roots"),
        create("a root for each domain", PLACED, VALUES, individual(["a", "b"]), individual(["a"]),
               "valuesPerLevel.individual, if set, must have roots of length equal to domainCount of this "
               "TopologyAssignmentSlice", SLICE),
        create("counts alike or each its own", PLACED, f"{SLICE}.podCounts", {"individual": [1, 2]},
               {"universal": 1, "individual": [1, 2]},
               "exactly one of the fields in [universal individual] must be set", f"{SLICE}.podCounts"),
        create("a count of all is at least one", PLACED, f"{SLICE}.podCounts", {"universal": 1}, {"universal": 0},
               "should be greater than or equal to 1", f"{SLICE}.podCounts.universal"),
        create("a count is at least one", PLACED, f"{SLICE}.podCounts", {"individual": [1, 1]},
               {"individual": [1, 0]}, "should be greater than or equal to 1", f"{SLICE}.podCounts.individual[1]"),
        create("a count for each domain", PLACED, f"{SLICE}.podCounts", {"individual": [1, 2]}, {"individual": [1]},
               "podCounts.individual must have length equal to domainCount", SLICE),
    ]  # fmt: skip


ROWS = [*_quota(), *_domains()]
