"""What a label, an annotation or a field of another system means here: one entry of the table of aliases."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from admission.model.names import MIN_PARALLELISM, PREFERRED_TOPOLOGY, PRIORITY_CLASS, QUEUE_NAME, REQUIRED_TOPOLOGY

PREEMPTIBLE = "lockgate.dev/preemptible"  # label of a job; people may write it

Where = Literal["label", "annotation", "field"]


class Meaning(Enum):
    """What is hinted at, and the key of ours that says it."""

    QUEUE = ("queue", QUEUE_NAME)
    PRIORITY = ("priority class", PRIORITY_CLASS)
    PREEMPTIBLE = ("preemptibility", PREEMPTIBLE)
    REQUIRED_TOPOLOGY = ("required topology", REQUIRED_TOPOLOGY)
    PREFERRED_TOPOLOGY = ("preferred topology", PREFERRED_TOPOLOGY)
    GANG = ("number of pods that must start together", MIN_PARALLELISM)

    def __init__(self, word: str, key: str) -> None:
        self.word = word
        self.key = key


# About the whole job, said by a label of it.
OF_THE_JOB = (Meaning.QUEUE, Meaning.PRIORITY, Meaning.PREEMPTIBLE)
# About the pods of a template, said by an annotation of it; a job that says it says it of all its pods.
OF_THE_PODS = (Meaning.REQUIRED_TOPOLOGY, Meaning.PREFERRED_TOPOLOGY)


@dataclass(frozen=True, slots=True)
class Alias:
    """`key` is that of a label or annotation, or the dotted path of a field. Labels and annotations count on the job
    and on its pod templates."""

    meaning: Meaning
    where: Where
    key: str
    words: Mapping[str, str] = field(default_factory=dict)  # theirs to ours; none: any, as it is
    through: Callable[[str], str] | None = None  # theirs to ours where words cannot be listed; raises ValueError
    explained: str = ""  # for people: what `through` does
    kinds: tuple[str, ...] = ()  # of a field: whose
    when: tuple[str, str] | None = None  # of a field: only where this other field says so
    fallback: bool = False  # counts only where no other alias of this system says anything of the same meaning

    def ours(self, value: str) -> str:
        """Their word in ours. Raises ValueError with the reason why it has no meaning here."""
        if self.words:
            if value not in self.words:
                raise ValueError(f"must be one of {', '.join(self.words)}")
            return self.words[value]
        return self.through(value) if self.through is not None else value


@dataclass(frozen=True, slots=True)
class Untranslated:
    """A hint that is understood, and has no counterpart: whoever wrote it is told."""

    where: Where
    key: str
    why: str


@dataclass(frozen=True, slots=True)
class Ecosystem:
    name: str
    aliases: tuple[Alias, ...]
    untranslated: tuple[Untranslated, ...] = ()
