"""LocalQueue: all of it is the schema's."""

from tests.refusals.objects import LONG_NAME, NO_NAME, NOT_A_NAME, SINCE, condition, names, of
from tests.refusals.row import create, update

LOCAL = of("LocalQueue", {"clusterQueue": "team"})
USED = [{"name": name, "resources": []} for name in names(65)]

ROWS = [
    create("the cluster queue's name is a subdomain", LOCAL, "spec.clusterQueue", "a.b", NO_NAME, NOT_A_NAME),
    create("the cluster queue's name has at most 253 characters", LOCAL, "spec.clusterQueue", "n" * 253, LONG_NAME,
           "Too long: may not be more than 253 bytes"),
    update("the cluster queue stays", LOCAL, "spec", {"clusterQueue": "team", "stopPolicy": "Hold"},
           {"clusterQueue": "other"}, 'Invalid value: "other": field is immutable', "spec.clusterQueue"),
    create("stop policies", LOCAL, "spec.stopPolicy", "Hold", "Drain", 'Unsupported value: "Drain"'),
    create("the weight is a quantity", LOCAL, "spec.fairSharing.weight", "-2", "heavy", NOT_A_NAME),
    create("at most 16 conditions", LOCAL, "status.conditions", [condition(name) for name in names(16)],
           [condition(name) for name in names(17)], "must have at most 16 items"),
    create("usage of at most 64 flavors", LOCAL, "status.flavorsUsage", USED[:64], USED, "must have at most 64 items"),
    create("reservation of at most 64 flavors", LOCAL, "status.flavorsReservation", USED[:64], USED,
           "must have at most 64 items"),
    create("flavors in use differ", LOCAL, "status.flavorsUsage", USED[:2], USED[:1] * 2,
           'Duplicate value: {"name":"n0"}', "status.flavorsUsage[1]"),
    create("earlier usage says when it was computed", LOCAL, "status.fairSharing",
           {"weightedShare": 0, "admissionFairSharingStatus": {"consumedResources": {"cpu": 1}, "lastUpdate": SINCE}},
           {"weightedShare": 0, "admissionFairSharingStatus": {"consumedResources": {"cpu": 1}}}, "Required value",
           "status.fairSharing.admissionFairSharingStatus.lastUpdate"),
]  # fmt: skip
