"""ProvisioningRequestConfig."""

from tests.refusals.objects import NO_NAME, NOT_A_NAME, names, of
from tests.refusals.row import ABSENT, create, put

CONFIG = of("ProvisioningRequestConfig", {"provisioningClassName": "queued"})
SELECTOR = "spec.podSetUpdates.nodeSelector"


def selected(*labels: str) -> list[dict[str, str]]:
    return [{"key": label, "valueFromProvisioningClassDetail": "detail"} for label in labels]


SELECTING = put(CONFIG, {SELECTOR: selected("zone")})

ROWS = [
    create("there is a class", CONFIG, "spec", CONFIG["spec"], {}, "Required value", "spec.provisioningClassName"),
    create("the class is a subdomain", CONFIG, "spec.provisioningClassName", "a.b", NO_NAME, NOT_A_NAME),
    create("the class has at most 253 characters", CONFIG, "spec.provisioningClassName", "n" * 253, "n" * 254,
           "Too long: may not be more than 253 bytes"),
    create("at most 100 parameters", CONFIG, "spec.parameters", dict.fromkeys(names(100), ""),
           dict.fromkeys(names(101), ""), "must have at most 100 items"),
    create("a parameter has at most 255 characters", CONFIG, "spec.parameters", {"a": "v" * 255}, {"a": "v" * 256},
           "Too long: may not be more than 255 bytes", "spec.parameters.a"),
    create("at most 100 resources", CONFIG, "spec.managedResources", list(names(100)), list(names(101)),
           "must have at most 100 items"),
    create("resources differ", CONFIG, "spec.managedResources", ["a", "b"], ["a", "a"], 'Duplicate value: "a"',
           "spec.managedResources[1]"),
    create("a limit of tries is a number", CONFIG, "spec.retryStrategy.backoffLimitCount", 0, "1",
           "must be of type integer"),
    create("a wait is a number", CONFIG, "spec.retryStrategy.backoffBaseSeconds", 0, "1", "must be of type integer"),
    create("the longest wait is a number", CONFIG, "spec.retryStrategy.backoffMaxSeconds", 0, "1",
           "must be of type integer"),
    create("at most 8 node labels", CONFIG, SELECTOR, selected(*names(8)), selected(*names(9)),
           "must have at most 8 items"),
    create("node labels differ", CONFIG, SELECTOR, selected("a", "b"), selected("a", "a"),
           'Duplicate value: {"key":"a"}', f"{SELECTOR}[1]"),
    create("a node label is a label key", SELECTING, f"{SELECTOR}[0].key", "a.b/c", "a b", NOT_A_NAME),
    create("a node label has at most 317 characters", SELECTING, f"{SELECTOR}[0].key", "n" * 317, "n" * 318,
           "Too long: may not be more than 317 bytes"),
    create("a node label has a key", SELECTING, f"{SELECTOR}[0]", selected("a")[0],
           {"valueFromProvisioningClassDetail": "detail"}, "Required value", f"{SELECTOR}[0].key"),
    create("a node label has a value", SELECTING, f"{SELECTOR}[0].valueFromProvisioningClassDetail", "a", ABSENT,
           "Required value"),
    create("a node label's value is not empty", SELECTING, f"{SELECTOR}[0].valueFromProvisioningClassDetail", "a", "",
           "should be at least 1 chars long"),
    create("ways to merge pod sets", CONFIG, "spec.podSetMergePolicy", "IdenticalPodTemplates", "Similar",
           'Unsupported value: "Similar"'),
]  # fmt: skip
