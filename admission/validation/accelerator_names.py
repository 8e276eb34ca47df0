"""Which name of the catalogue somebody meant who wrote another: names of resources are told apart by case, and a slip
makes one that no node has."""

from admission.model.accelerators import ANY, Catalogue

_LONGEST = 253 + 1 + 63  # characters of the name of a resource, as Kubernetes has it


def near_miss(name: str, catalogue: Catalogue) -> str:
    """The name of the catalogue that may be meant by one that it does not have, or ""."""
    domain, _, rest = name.partition("/")
    others = catalogue.domains.get(domain.lower(), ())
    if not others or len(name) > _LONGEST or catalogue.find(name) is not None:
        return ""
    candidates = [other for other in others if not other.endswith(ANY)]
    for other in candidates:
        if other.lower() == name.lower():
            return other
    for other in candidates:
        short = other.partition("/")[2]
        # Numbers tell models apart: another one is another model, not a slip.
        if _digits(short) == _digits(rest) and _distance(short.lower(), rest.lower()) <= (1 if len(short) < 8 else 2):
            return other
    return ""


def _digits(name: str) -> str:
    return "".join(letter for letter in name if letter.isdigit())


def _distance(left: str, right: str) -> int:
    """How many letters must be changed, added or left out to make one of the other."""
    if abs(len(left) - len(right)) > 2:
        return 3
    row = list(range(len(right) + 1))
    for at, letter in enumerate(left, 1):
        before, row = row, [at]
        for column, other in enumerate(right, 1):
            row.append(min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != other)))
    return row[-1]
