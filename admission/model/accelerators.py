"""What names of resources and annotations mean in accelerators: the words of the catalogue.

A name either counts devices (or slices of devices), or says which share of such devices is asked for: per device, or
of all of them together.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple

ACCELERATORS = "lockgate.dev/accelerators"
MEMORY = "lockgate.dev/accelerator-memory"
DERIVED = frozenset((ACCELERATORS, MEMORY))

# What KAI's users write on pods instead of a resource.
FRACTION, FRACTION_MEMORY, FRACTION_DEVICES = "gpu-fraction", "gpu-memory", "gpu-fraction-num-devices"
ANNOTATIONS = (FRACTION, FRACTION_MEMORY, FRACTION_DEVICES)

# Where people add to the catalogue: a ConfigMap in the product's namespace, and its key.
CONFIG_MAP, CONFIG_MAP_KEY = "lockgate-accelerators", "catalogue"

ANY = "*"  # at the end of a name: whatever follows

# What one unit of a name is. A part: nobody says how many of them make a device.
Unit = Literal["device", "fraction", "percent", "memory-percent", "MiB", "byte", "part"]
UNITS: tuple[Unit, ...] = ("device", "fraction", "percent", "memory-percent", "MiB", "byte", "part")

_ONE = Fraction(1)


class Accelerator(NamedTuple):
    """One name. Amounts are exact."""

    name: str
    vendor: str
    unit: Unit = "device"
    accelerators: Fraction = _ONE  # that one device counts as; of units that count devices
    memory: int | None = None  # bytes of one device, where the name tells; of units that count devices
    of: str = ""  # of a share: the name that counts the devices. "": one device
    per_device: bool = False  # of a share: said of each of the devices, not of all together
    excludes: tuple[str, ...] = ()  # names that no container may ask for beside this one
    needs: tuple[str, ...] = ()  # one of these must be asked for beside this one

    @property
    def counts_devices(self) -> bool:
        return self.unit == "device"


class Catalogue:
    """Names and what they mean; of two that fit, the one that says more of the name counts."""

    def __init__(self, entries: Iterable[Accelerator]) -> None:
        self._exact: dict[str, Accelerator] = {}
        for one in entries:
            self._exact[one.name] = one  # who comes later knows better
        prefixes = [one for one in self._exact.values() if one.name.endswith(ANY)]
        self._prefixes = sorted(prefixes, key=lambda one: (-len(one.name), one.name))
        self.domains: Mapping[str, tuple[str, ...]] = _by_domain(self._exact)

    def __iter__(self) -> Iterator[Accelerator]:
        return iter(self._exact.values())

    def find(self, name: str) -> Accelerator | None:
        """None: nothing that is known to be an accelerator."""
        found = self._exact.get(name)
        if found is None:
            for one in self._prefixes:
                if name.startswith(one.name[:-1]):
                    return one
        return found

    def get(self, entry: str) -> Accelerator | None:
        """The entry that is spelled just like this."""
        return self._exact.get(entry)

    def but(self, entries: Iterable[Accelerator]) -> "Catalogue":
        """With these added; who is there already is replaced."""
        return Catalogue([*self, *entries])

    def changed(self, changes: Iterable[tuple[str, Mapping[str, Any]]]) -> "Catalogue":
        """With these names added, or what is stated of those that are there changed."""
        found = dict(self._exact)
        for name, fields in changes:
            found[name] = (found.get(name) or Accelerator(name, ""))._replace(**fields)
        return Catalogue(found.values())


@dataclass(frozen=True, slots=True)
class CatalogueChanges:
    """What a ConfigMap says of accelerators. `changes`: names, and the fields of each that are stated; `faults`: what
    is wrong with other entries, as sentences."""

    namespace: str
    name: str
    uid: str = ""
    resource_version: int = 0
    changes: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    faults: tuple[str, ...] = ()


def _by_domain(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name in names:
        domain, slash, _ = name.partition("/")
        if slash:
            found[domain] = (*found.get(domain, ()), name)
    return found
