"""Paths and counts of a JobKind, read once; what is wrong with them is gathered with the field that says so."""

from collections.abc import Mapping
from typing import Any, get_args

from admission.api.field_errors import OMITTED, FieldError, invalid
from admission.model.amounts import BadQuantity, exact
from admission.model.job_kind import Combined, Expression, Place, Stated
from admission.readers.narrow import is_mapping
from admission.readers.places import BadPlace, is_plain, read_place

DEEPEST = 8  # expressions inside of each other; kinds that were looked at need two
MOST = 16  # operands of one
MOST_PARTS = 256  # operands of all in a JobKind: every job is asked for each
_HOW = get_args(Combined.__annotations__["how"])
_FORM = (
    "must be a number, a path, {path: …, default: …} or one of {product: […]}, {sum: […]}, {min: […]} and {max: […]}"
)
_NOWHERE = Place(("",))


class Expressions:
    """Reads them and remembers the errors."""

    def __init__(self) -> None:
        self.errors: list[FieldError] = []
        self._parts = 0

    def wrong(self, path: str, value: object, detail: str) -> None:
        """Lists and maps are not repeated: they may be of any size and depth."""
        self.errors.append(invalid(path, OMITTED if isinstance(value, list | Mapping) else value, detail))

    def place(self, path: str, stated: object, within: bool = False) -> Place:
        """Anything, with an error, for what is no path. `within`: it may count from an entry."""
        if not isinstance(stated, str):
            self.wrong(path, stated, "must be a path, like spec.suspend")
            return _NOWHERE
        try:
            return read_place(stated, within)
        except BadPlace as bad:
            self.wrong(path, stated, str(bad))
            return _NOWHERE

    def plain(self, path: str, stated: object, place: Place, *, entries: bool = False) -> bool:
        """Whether it leads to one field, with an error where not. `entries`: numbered ones may be on the way."""
        if is_plain(place, entries=entries):
            return True
        steps = "[*], [name=…]" if entries else "numbers, [*], [name=…]"
        self.wrong(path, stated, f"must lead to one field: leave out {steps}")
        return False

    def expression(self, path: str, stated: Any, within: bool = False, depth: int = 0) -> Expression | None:
        """None where nothing is stated, and where it is wrong."""
        if stated is None:
            return None
        if isinstance(stated, int) and not isinstance(stated, bool):
            if 0 <= stated < 2**31:
                return stated
            self.wrong(path, stated, "must be a number from 0 to 2147483647")
        elif isinstance(stated, str):
            return Stated(self.place(path, stated, within))
        elif is_mapping(stated) and stated and set(stated) <= {"path", "default"}:
            default = stated.get("default")
            if default is not None and (not isinstance(default, int) or isinstance(default, bool)):
                self.wrong(f"{path}.default", default, "must be a number")
                default = None
            return Stated(self.place(f"{path}.path", stated.get("path"), within), default)
        elif is_mapping(stated) and len(stated) == 1 and next(iter(stated)) in _HOW:
            return self._combined(path, stated, within, depth)
        else:
            self.wrong(path, stated, _FORM)
        return None

    def _combined(self, path: str, stated: Mapping[str, Any], within: bool, depth: int) -> Expression | None:
        how, of = next(iter(stated.items()))
        if not isinstance(of, list) or not 0 < len(of) <= MOST:
            self.errors.append(
                invalid(f"{path}.{how}", of, f"must be a list of 1 to {MOST} numbers, paths and the like")
            )
            return None
        if depth >= DEEPEST:
            self.wrong(f"{path}.{how}", how, f"is more than {DEEPEST} deep: state it in fewer steps")
            return None
        self._parts += len(of)
        if self._parts > MOST_PARTS:
            self.wrong(f"{path}.{how}", how, f"makes numbers of more than {MOST_PARTS} parts: state them in fewer")
            return None
        parts = [self.expression(f"{path}.{how}[{at}]", one, within, depth + 1) for at, one in enumerate(of)]
        if any(one is None for one in of):
            self.wrong(f"{path}.{how}", of, _FORM)
        return Combined(how, tuple(part for part in parts if part is not None))  # type: ignore[arg-type]

    def quantity(self, path: str, stated: Any, within: bool) -> Expression | str | None:
        """A quantity as text where it begins like one, else where it lies."""
        if isinstance(stated, int) and not isinstance(stated, bool):
            stated = str(stated)
        if isinstance(stated, str) and stated[:1] in "0123456789+-.":
            try:
                exact(stated)
            except BadQuantity:
                self.wrong(path, stated, "must be a quantity, like 500m or 2Gi, or the path of one")
                return None
            return stated
        if isinstance(stated, str):
            place = self.place(path, stated, within)
            self.plain(path, stated, place, entries=True)
            return Stated(place)
        self.wrong(path, stated, "must be a quantity, like 500m or 2Gi, or the path of one")
        return None

    @staticmethod
    def is_place(found: Expression) -> bool:
        return isinstance(found, Stated)

    @staticmethod
    def one_field(found: Expression | None) -> bool:
        """Whether a number can be written back to it."""
        return isinstance(found, Stated) and is_plain(found.place)
