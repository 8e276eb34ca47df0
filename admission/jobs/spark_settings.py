"""What a SparkApplication sets for its two roles, be it by a field of its own or through `spec.sparkConf`.

The operator hands both to spark-submit, fields last: where they disagree, the field counts. Only the factor of memory
overhead is the other way round.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from admission.api.field_errors import FieldError, invalid, key, required
from admission.jobs.spark_memory import (
    JVM_OVERHEAD,
    MINIMUM_OVERHEAD,
    OTHER_OVERHEAD,
    BadMemory,
    mebibytes,
    share,
)
from admission.model.amounts import BadQuantity, exact
from admission.readers.narrow import mapping, strings, text

_MEMORY = "1g"  # Spark's own default
_CORES = "1"
_FACTOR = "spark.kubernetes.memoryOverheadFactor"
_DYNAMIC = "spark.dynamicAllocation."


@dataclass(frozen=True, slots=True)
class Setting:
    """`path`: where it was found, or would be looked for."""

    path: str
    value: str = ""

    def __bool__(self) -> bool:
        return self.value != ""


@dataclass(frozen=True, slots=True)
class Executors:
    """How many there are to be. `most` None: they may grow without bound, or the number cannot be read."""

    most: int | None
    least: int


class Settings:
    """Of one application. Total: what is no text or number counts as not said."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self.spec = mapping(manifest.get("spec"))
        self.conf = strings(self.spec.get("sparkConf"))

    def role(self, role: str) -> Mapping[str, Any]:
        return mapping(self.spec.get(role))

    def of(self, role: str, field: str, *keys: str) -> Setting:
        """A field of the role, else the first of these properties that is set."""
        stated = _said(self.role(role).get(field))
        return Setting(f"spec.{role}.{field}", stated) if stated or not keys else self.configured(*keys)

    def configured(self, *keys: str) -> Setting:
        found = next((one for one in keys if self.conf.get(one)), keys[-1])
        return Setting(key("spec.sparkConf", found), self.conf.get(found, ""))

    # cores

    def cores(self, role: str) -> Setting:
        """What the container asks for: `coreRequest`, else as many as Spark runs tasks on."""
        asked = self.of(role, "coreRequest", f"spark.kubernetes.{role}.request.cores")
        counted = asked or self.of(role, "cores", f"spark.{role}.cores")
        return counted or Setting(f"spec.{role}.cores", _CORES)

    def core_limit(self, role: str) -> Setting:
        return self.of(role, "coreLimit", f"spark.kubernetes.{role}.limit.cores")

    # memory, in MiB

    def memory(self, role: str) -> int:
        """What the container asks for, overhead included. Raises BadMemory."""
        heap = mebibytes((self._heap(role) or Setting("", _MEMORY)).value)
        overhead = self._overhead(role)
        if overhead:
            beside = mebibytes(overhead.value)
        else:
            beside = max(share(self._factor(role).value, heap), mebibytes(self._least(role).value))
        return heap + beside + sum(mebibytes(one.value) for one in self._more(role))

    def _heap(self, role: str) -> Setting:
        return self.of(role, "memory", f"spark.{role}.memory")

    def _overhead(self, role: str) -> Setting:
        return self.of(role, "memoryOverhead", f"spark.{role}.memoryOverhead")

    def _least(self, role: str) -> Setting:
        return self.configured(f"spark.{role}.minMemoryOverhead") or Setting("", MINIMUM_OVERHEAD)

    def _factor(self, role: str) -> Setting:
        own = self.configured(f"spark.{role}.memoryOverheadFactor", _FACTOR)
        stated = own or Setting("spec.memoryOverheadFactor", _said(self.spec.get("memoryOverheadFactor")))
        return stated or Setting("", OTHER_OVERHEAD if self._beside_the_jvm() else JVM_OVERHEAD)

    def _more(self, role: str) -> list[Setting]:
        """What executors ask for on top where the application says so."""
        if role != "executor":
            return []
        off_heap, python = (
            self.configured("spark.memory.offHeap.size"),
            self.configured("spark.executor.pyspark.memory"),
        )
        wanted = [off_heap] if _true(self.conf.get("spark.memory.offHeap.enabled")) else []
        wanted += [python] if self._main_file().endswith(".py") else []
        return [one for one in wanted if one]

    def _beside_the_jvm(self) -> bool:
        """As Spark tells: by the name of the file it is to run."""
        main = self._main_file()
        return main.endswith((".py", ".R")) if main else self.spec.get("type") in ("Python", "R")

    def _main_file(self) -> str:
        return text(self.spec.get("mainApplicationFile"))

    # devices and nodes

    def devices(self, role: str) -> dict[str, str]:
        """Limits for what Spark itself calls resources, by the names that Kubernetes knows."""
        prefix = f"spark.{role}.resource."
        found = {}
        for name, amount in sorted(self.conf.items()):
            if name.startswith(prefix) and name.endswith(".amount"):
                device = name.removeprefix(prefix).removesuffix(".amount")
                if vendor := self.conf.get(f"{prefix}{device}.vendor"):
                    found[f"{vendor}/{device}"] = amount
        return found

    def node_selector(self, role: str) -> dict[str, str]:
        """Labels that nodes must have by the properties of the application and of the role."""
        found: dict[str, str] = {}
        for prefix in ("spark.kubernetes.node.selector.", f"spark.kubernetes.{role}.node.selector."):
            found |= {name.removeprefix(prefix): value for name, value in self.conf.items() if name.startswith(prefix)}
        return found

    # executors

    @property
    def dynamic(self) -> bool:
        """Whether Spark starts and ends executors as it needs them."""
        return self.allocation.get("enabled") is True or _true(self.conf.get(_DYNAMIC + "enabled"))

    @property
    def allocation(self) -> Mapping[str, Any]:
        return mapping(self.spec.get("dynamicAllocation"))

    def executors(self) -> Executors:
        if not self.dynamic:
            asked = self.instances().value
            count = int(asked) if _is_count(asked) else None
            return Executors(count, count or 0)
        most, least = self.bound("max").value, self.bound("min").value
        return Executors(int(most) if _is_count(most) else None, int(least) if _is_count(least) else 0)

    def instances(self) -> Setting:
        """One if nothing is said: so the operator fills it in."""
        stated = self.of("executor", "instances", "spark.executor.instances")
        return stated or Setting("spec.executor.instances", "1")

    def bound(self, which: str) -> Setting:
        """`min` or `max`: how many executors there may be at least, or at most, where their number changes."""
        field = f"{which}Executors"
        stated = _said(self.allocation.get(field)) if self.allocation.get("enabled") is True else ""
        return Setting(f"spec.dynamicAllocation.{field}", stated) if stated else self.configured(_DYNAMIC + field)

    # faults

    def faults(self) -> list[FieldError]:
        """What keeps the application from being counted."""
        return list(dict.fromkeys(self._faults()))  # what holds for both roles is told once

    def _faults(self) -> Iterator[FieldError]:
        for role in ("driver", "executor"):
            for cores in (self.cores(role), self.core_limit(role)):
                try:
                    exact(cores.value or "0")
                except BadQuantity as error:
                    yield invalid(cores.path, cores.value, str(error))
            yield from self._memory_faults(role)
        yield from self._executor_faults()

    def _memory_faults(self, role: str) -> Iterator[FieldError]:
        for stated in (self._heap(role), self._overhead(role), self._least(role), *self._more(role)):
            try:
                mebibytes(stated.value or "0")
            except BadMemory as error:
                yield invalid(stated.path, stated.value, str(error))
        if not self._overhead(role):
            factor = self._factor(role)
            try:
                share(factor.value, 0)
            except BadMemory as error:
                yield invalid(factor.path, factor.value, str(error))

    def _executor_faults(self) -> Iterator[FieldError]:
        stated = self.bound("max") if self.dynamic else self.instances()
        if self.dynamic and not stated:
            why = "executors that come and go are counted at their most, so that most must be said"
            yield required(stated.path, why)
        elif not _is_count(stated.value):
            yield invalid(stated.path, stated.value, "must be a whole number of executors")


def _said(value: object) -> str:
    """A text or number as it would stand on spark-submit's command line."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _is_count(stated: str) -> bool:
    return stated.isascii() and stated.isdigit() and len(stated) <= 9  # a Java int


def _true(stated: str | None) -> bool:
    return stated is not None and stated.strip().lower() == "true"
