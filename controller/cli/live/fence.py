"""Proof that the product has heard us: a LocalQueue that leads nowhere, which it must call inactive."""

from admission.model.kinds import KINDS, Ref
from admission.world.objects import condition
from controller.cli.live.names import Names
from controller.cli.live.news import Item
from controller.cli.live.wire import Wire

_SPACE = "fence"


class Fence:
    """One at a time; `up` until the product has answered."""

    def __init__(self, wire: Wire, names: Names) -> None:
        self._wire = wire
        self._space = names.ref(Ref("Namespace", "", _SPACE)).name
        self._count = 0
        self._waiting = ""

    @property
    def up(self) -> bool:
        return bool(self._waiting)

    def raise_it(self) -> None:
        """What was written before is seen by the product when this one is answered."""
        if not self._count:
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self._space}}
            self._wire.call("POST", KINDS["Namespace"].path(), namespace)
        self._count += 1
        self._waiting = f"fence-{self._count}"
        kind = KINDS["LocalQueue"]
        body = {
            "apiVersion": kind.api_version,
            "kind": "LocalQueue",
            "metadata": {"name": self._waiting, "namespace": self._space},
            "spec": {"clusterQueue": self._space},
        }
        self._wire.call("POST", kind.path(self._space), body)

    def hears(self, item: Item) -> bool:
        """Whether this is about a fence."""
        if item.ref.namespace != self._space:
            return False
        if item.ref.name == self._waiting and condition(item.manifest, "Active") is not None:
            self._waiting = ""
        return True
