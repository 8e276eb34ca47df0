"""ClusterQueue: its status, and the conditions that all kinds share."""

from tests.refusals.objects import NO_NAME, NOT_A_NAME, QUEUE, SINCE, condition, names
from tests.refusals.row import ABSENT, create, put

CONDITIONS = "status.conditions"
STATED = put(QUEUE, {CONDITIONS: [condition()]})
USED = put(QUEUE, {"status.flavorsUsage": [{"name": "spot", "resources": [{"name": "cpu", "total": "1"}]}]})
USAGE = "status.flavorsUsage[0]"

ROWS = [
    create("at most 16 conditions", QUEUE, CONDITIONS, [condition(name) for name in names(16)],
           [condition(name) for name in names(17)], "must have at most 16 items"),
    create("conditions differ", QUEUE, CONDITIONS, [condition("A"), condition("B")], [condition("A")] * 2,
           'Duplicate value: {"type":"A"}', f"{CONDITIONS}[1]"),
    create("a condition's type is a label key", STATED, f"{CONDITIONS}[0].type", "a.b/Active", "not active",
           NOT_A_NAME),
    create("a condition holds, does not, or who knows", STATED, f"{CONDITIONS}[0].status", "Unknown", "Maybe",
           'Unsupported value: "Maybe"'),
    create("a condition has a reason", STATED, f"{CONDITIONS}[0].reason", "Ready", ABSENT, "Required value"),
    create("a condition's reason is a word", STATED, f"{CONDITIONS}[0].reason", "Ready", "not a word", NOT_A_NAME),
    create("a condition's reason has at most 1024 characters", STATED, f"{CONDITIONS}[0].reason", "R" * 1024,
           "R" * 1025, "Too long: may not be more than 1024 bytes"),
    create("a condition has a message", STATED, f"{CONDITIONS}[0].message", "", ABSENT, "Required value"),
    create("a condition's message has at most 32768 characters", STATED, f"{CONDITIONS}[0].message", "m" * 32768,
           "m" * 32769, "Too long: may not be more than 32768 bytes"),
    create("a condition has a time", STATED, f"{CONDITIONS}[0].lastTransitionTime", SINCE, ABSENT, "Required value"),
    create("a condition's time is one", STATED, f"{CONDITIONS}[0].lastTransitionTime", SINCE, "today",
           "must be of type date-time"),
    create("a condition's generation is not negative", STATED, f"{CONDITIONS}[0].observedGeneration", 0, -1,
           "should be greater than or equal to 0"),
    create("usage of at most 64 flavors", QUEUE, "status.flavorsUsage",
           [{"name": name, "resources": []} for name in names(64)],
           [{"name": name, "resources": []} for name in names(65)], "must have at most 64 items"),
    create("reservation of at most 64 flavors", QUEUE, "status.flavorsReservation",
           [{"name": name, "resources": []} for name in names(64)],
           [{"name": name, "resources": []} for name in names(65)], "must have at most 64 items"),
    create("flavors in use differ", QUEUE, "status.flavorsUsage", [{"name": "a", "resources": []}],
           [{"name": "a", "resources": []}] * 2, 'Duplicate value: {"name":"a"}', "status.flavorsUsage[1]"),
    create("a flavor in use has a proper name", USED, f"{USAGE}.name", "spot", NO_NAME, NOT_A_NAME),
    create("a flavor in use says of what", USED, f"{USAGE}.resources", [], ABSENT, "Required value"),
    create("a flavor in use says it of at most 64 resources", USED, f"{USAGE}.resources",
           [{"name": name} for name in names(64)], [{"name": name} for name in names(65)],
           "must have at most 64 items"),
    create("usage is a quantity", USED, f"{USAGE}.resources[0].borrowed", "1", "one", NOT_A_NAME),
    create("counts are numbers", QUEUE, "status.pendingWorkloads", 5, "5", "must be of type integer"),
    create("a share is stated", QUEUE, "status.fairSharing", {"weightedShare": 0}, {}, "Required value",
           "status.fairSharing.weightedShare"),
]  # fmt: skip
