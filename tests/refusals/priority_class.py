"""WorkloadPriorityClass."""

from tests.refusals.objects import of
from tests.refusals.row import ABSENT, create

CLASS = of("WorkloadPriorityClass", value=100)

ROWS = [
    create("a class has a value", CLASS, "value", -5, ABSENT, "Required value"),
    create("a value is a number", CLASS, "value", 0, "high", "must be of type integer"),
    create("a value has 32 bits", CLASS, "value", 2**31 - 1, 2**31, "should be less than or equal to 2147483647",
           kueue="accepts: it has no webhook for the kind, and no bound in the schema"),
    create("a description has at most 2048 characters", CLASS, "description", "d" * 2048, "d" * 2049,
           "Too long: may not be more than 2048 bytes"),
]  # fmt: skip
