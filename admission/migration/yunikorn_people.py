"""Who may submit to YuniKorn's queues, and how much each user and group may run: the part of a QueuePolicy."""

from dataclasses import dataclass
from typing import Any

from admission.migration.fields import Fields
from admission.model.amounts import text

_EVERYBODY = "*"
_NAMES = {"vcore": "cpu"}


@dataclass(frozen=True, slots=True)
class Acl:
    """A right that a parent gives holds below it, too."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    everybody: bool = False

    @property
    def nobody(self) -> bool:
        return not (self.users or self.groups or self.everybody)

    def joined(self, other: "Acl") -> "Acl":
        users = tuple(dict.fromkeys((*self.users, *other.users)))
        groups = tuple(dict.fromkeys((*self.groups, *other.groups)))
        return Acl(users, groups, self.everybody or other.everybody)

    def spec(self) -> dict[str, list[str]]:
        """As a QueuePolicy's `submit`; empty where everybody may."""
        if self.everybody:
            return {}
        return {key: list(names) for key, names in (("users", self.users), ("groups", self.groups)) if names}


def acl(fields: Fields) -> Acl:
    """Who may submit: those of `submitacl`, and of `adminacl`, who may do all else too."""
    submit, admin = _parsed(fields.text("submitacl")), _parsed(fields.text("adminacl"))
    if not admin.nobody:
        fields.drop("adminacl", "who may change queues is said by RBAC; they may submit")
    return submit.joined(admin)


def limits(fields: Fields) -> list[dict[str, Any]]:
    """Rows of a QueuePolicy: YuniKorn's limit holds for each user that it lists, and for a group in total."""
    rows: list[dict[str, Any]] = []
    for one in fields.children("limits"):
        one.take("limit")  # a description
        most: dict[str, Any] = {}
        if running := one.integer("maxapplications", 0):
            most["running"] = running
        if resources := one.amounts("maxresources", _NAMES):
            most["resources"] = {resource: text(resource, units) for resource, units in resources.items()}
        if not most:
            one.fault("maxresources", "is missing, and maxapplications too", "say which of both is limited")
            continue
        rows += [{"users": [user], **most} for user in one.texts("users")]
        rows += [{"groups": [group], **most} for group in one.texts("groups")]
    return rows


def _parsed(text_: str) -> Acl:
    """`users groups`, each with commas, either may be left out; `*` is everybody."""
    if text_.strip() == _EVERYBODY:
        return Acl(everybody=True)
    users, _, groups = text_.partition(" ")
    names = [tuple(name for name in part.replace(" ", ",").split(",") if name) for part in (users, groups)]
    if any(_EVERYBODY in part for part in names):
        return Acl(everybody=True)
    return Acl(names[0], names[1])
