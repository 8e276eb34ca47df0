"""Truth as text, in the spellings that Go's strconv knows: annotations and flags of Kueue are read by it."""

_TRUE, _FALSE = ("1", "t", "T", "TRUE", "true", "True"), ("0", "f", "F", "FALSE", "false", "False")


def is_true(value: object) -> bool:
    return value in _TRUE


def is_bool(value: object) -> bool:
    """Either of the two."""
    return value in _TRUE or value in _FALSE
