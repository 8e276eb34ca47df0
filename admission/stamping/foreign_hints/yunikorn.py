"""Apache YuniKorn: labels and annotations of pods, queues by their path from the root."""

import json
import re

from admission.stamping.foreign_hints.alias import Alias, Ecosystem, Meaning, Untranslated, Where

_ODD = re.compile(r"[^a-z0-9.-]+")
_ENDS = re.compile(r"(^|\.)-+|-+(\.|$)")
_NO_NUMBER = "must be a list of groups in JSON, each with a name and a minMember"


def queue_name(path: str) -> str:
    """What the queue of this path is called here: `root.Etl.Night_Runs` -> `etl.night-runs`. YuniKorn does not tell
    cases apart, and names without `root` count from it; what no object's name may have becomes a dash."""
    name = _ODD.sub("-", path.lower())
    while (trimmed := _ENDS.sub(r"\1\2", name)) != name:
        name = trimmed
    return name.removeprefix("root.") or "root"


def _members(groups: str) -> str:
    """Pods of all task groups together."""
    try:
        found = json.loads(groups)
        numbers = [group["minMember"] for group in found]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError(_NO_NUMBER) from None
    if not numbers or not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError(_NO_NUMBER)
    return str(sum(numbers))


def _queue(where: Where, key: str, kinds: tuple[str, ...] = (), when: tuple[str, str] | None = None) -> Alias:
    told = "the path without `root.`, in small letters: `root.Etl.night` is `etl.night`"
    return Alias(Meaning.QUEUE, where, key, through=queue_name, explained=told, kinds=kinds, when=when)


YUNIKORN = Ecosystem(
    "yunikorn",
    (
        _queue("label", "yunikorn.apache.org/queue"),
        _queue("annotation", "yunikorn.apache.org/queue"),
        _queue("label", "queue"),
        _queue("field", "spec.batchSchedulerOptions.queue", ("SparkApplication",), ("spec.batchScheduler", "yunikorn")),
        Alias(
            Meaning.PREEMPTIBLE,
            "annotation",
            "yunikorn.apache.org/allow-preemption",
            words={"true": "true", "false": "false"},
        ),
        Alias(
            Meaning.GANG,
            "annotation",
            "yunikorn.apache.org/task-groups",
            through=_members,
            explained="the sum of the groups' `minMember`",
        ),
    ),
    (
        Untranslated(
            "annotation", "yunikorn.apache.org/user.info", "who creates a job is known from the request, and believed"
        ),
    ),
)
