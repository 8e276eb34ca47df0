"""Topology: its levels."""

from tests.refusals.objects import NOT_A_NAME, names, of
from tests.refusals.row import ABSENT, create, put, update

LEVELS = "spec.levels"
HOST = "kubernetes.io/hostname"


def levels(*labels: str) -> list[object]:
    return [{"nodeLabel": label} for label in labels]


TOPOLOGY = of("Topology", {"levels": levels("rack", HOST)})

ROWS = [
    create("there are levels", TOPOLOGY, "spec", TOPOLOGY["spec"], {}, "Required value", LEVELS),
    create("at least one level", TOPOLOGY, LEVELS, levels("rack"), [], "should have at least 1 items"),
    create("at most 16 levels", TOPOLOGY, LEVELS, levels(*names(16)), levels(*names(17)), "must have at most 16 items"),
    create("a level has a label", put(TOPOLOGY, {LEVELS: levels("rack")}), f"{LEVELS}[0].nodeLabel", "a", ABSENT,
           "Required value"),
    create("a level's label is not empty", TOPOLOGY, f"{LEVELS}[0].nodeLabel", "a", "", "Invalid value"),
    create("a level's label is a label key", TOPOLOGY, f"{LEVELS}[0].nodeLabel", "a.b/C_d", "a b", NOT_A_NAME),
    create("a level's label has at most 316 characters", TOPOLOGY, f"{LEVELS}[0].nodeLabel", "n" * 316, "n" * 317,
           "Too long: may not be more than 316 bytes"),
    create("levels differ", TOPOLOGY, LEVELS, levels("a", "b"), levels("a", "a"), "must be unique"),
    create("the host is the lowest level", TOPOLOGY, LEVELS, levels("a", HOST), levels(HOST, "a"),
           "the kubernetes.io/hostname label can only be used at the lowest level of topology"),
    update("levels stay", TOPOLOGY, LEVELS, levels("rack", HOST), levels("row", HOST), "field is immutable"),
]  # fmt: skip
