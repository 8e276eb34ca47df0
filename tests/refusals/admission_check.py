"""AdmissionCheck: who answers, and with which parameters."""

from tests.refusals.objects import NO_NAME, NOT_A_NAME, condition, of
from tests.refusals.row import ABSENT, create, update

PARAMETERS = "spec.parameters"
GIVEN = {"apiGroup": "example.com", "kind": "Budget", "name": "yearly"}
CHECK = of("AdmissionCheck", {"controllerName": "example.com/budget", "parameters": GIVEN})

ROWS = [
    create("somebody answers", CHECK, "spec.controllerName", "anything", ABSENT, "Required value"),
    create("who answers has a name", CHECK, "spec.controllerName", "a", "", "should be at least 1 chars long"),
    create("who answers has at most 253 characters", CHECK, "spec.controllerName", "n" * 253, "n" * 254,
           "Too long: may not be more than 253 bytes"),
    update("who answers stays", CHECK, "spec", {"controllerName": "example.com/budget"},
           {"controllerName": "example.com/other"}, "field is immutable", "spec.controllerName"),
    *(
        create(f"parameters have {field}", CHECK, f"{PARAMETERS}.{field}", GIVEN[field], ABSENT, "Required value")
        for field in GIVEN
    ),
    *(
        create(f"{field} of parameters is not empty", CHECK, f"{PARAMETERS}.{field}", "a", "", "Invalid value")
        for field in GIVEN
    ),
    *(
        create(f"{field} of parameters has at most {most} characters", CHECK, f"{PARAMETERS}.{field}", "n" * most,
               "n" * (most + 1), f"Too long: may not be more than {most} bytes")
        for field, most in (("apiGroup", 253), ("kind", 63), ("name", 63))
    ),
    create("the group of parameters is a subdomain", CHECK, f"{PARAMETERS}.apiGroup", "a.b", NO_NAME, NOT_A_NAME),
    create("the kind of parameters is a word", CHECK, f"{PARAMETERS}.kind", "aB-c", "2nd", NOT_A_NAME),
    create("the name of parameters is a label", CHECK, f"{PARAMETERS}.name", "a-b", "a.b", NOT_A_NAME),
    create("conditions differ", CHECK, "status.conditions", [condition("Active")], [condition("Active")] * 2,
           'Duplicate value: {"type":"Active"}', "status.conditions[1]"),
]  # fmt: skip
