"""What Kubernetes accepts as a name, a label, a selector, a condition; each fault in the API server's own words."""

import re
from collections.abc import Mapping, Sequence

from admission.api.field_errors import FieldError, child, forbidden, invalid, required, too_long

IMMUTABLE = "field is immutable"
NEGATIVE = "must be greater than or equal to 0"
LONGEST_LABEL = 63
_LONGEST_SUBDOMAIN = 253
_ANNOTATIONS = 256 * 1024  # bytes of all keys and values together, the API server's limit

_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_is_subdomain = re.compile(_SUBDOMAIN).fullmatch
_is_dns_label = re.compile(_DNS_LABEL).fullmatch
_is_name = re.compile(_NAME).fullmatch
_is_http_path = re.compile(_HTTP_PATH).fullmatch

_BAD_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_BAD_DNS_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_DNS_LABEL}')"
)
_BAD_NAME = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_BAD_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    f"'({_NAME})?')"
)


def subdomain_faults(value: str, unit: str = "characters") -> list[str]:
    """Why it is no DNS subdomain. Kubernetes counts names in characters, and what is part of a label in bytes."""
    faults = [] if len(value) <= _LONGEST_SUBDOMAIN else [f"must be no more than {_LONGEST_SUBDOMAIN} {unit}"]
    if not _is_subdomain(value):
        faults.append(_BAD_SUBDOMAIN)
    return faults


def dns_label_faults(value: str) -> list[str]:
    """Why it is no name of a namespace or Service."""
    faults = [] if len(value) <= LONGEST_LABEL else [f"must be no more than {LONGEST_LABEL} bytes"]
    if not _is_dns_label(value):
        faults.append(_BAD_DNS_LABEL)
    return faults


def label_key_faults(key: str) -> list[str]:
    """Why it is no qualified name: a name with an optional DNS prefix."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return [
            f"a valid label key {_BAD_NAME} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    faults = []
    if slash:
        faults = (
            [f"prefix part {fault}" for fault in subdomain_faults(prefix, "bytes")]
            if prefix
            else ["prefix part must be non-empty"]
        )
    if not name:
        faults.append("name part must be non-empty")
    elif len(name) > LONGEST_LABEL:
        faults.append(f"name part must be no more than {LONGEST_LABEL} bytes")
    if not _is_name(name):
        faults.append(f"name part {_BAD_NAME}")
    return faults


def label_value_faults(value: str) -> list[str]:
    faults = [] if len(value) <= LONGEST_LABEL else [f"must be no more than {LONGEST_LABEL} bytes"]
    if value and not _is_name(value):
        faults.append(_BAD_VALUE)
    return faults


def label_key(path: str, key: str) -> list[FieldError]:
    return [invalid(path, key, fault) for fault in label_key_faults(key)]


def labels(path: str, found: Mapping[str, str] | None) -> list[FieldError]:
    """Keys and values of a map of labels or of a node selector."""
    errors = []
    for key, value in (found or {}).items():
        errors += label_key(path, key)
        errors += [invalid(path, value, fault) for fault in label_value_faults(value)]
    return errors


def annotations(path: str, found: Mapping[str, str] | None) -> list[FieldError]:
    errors = []
    for key in found or {}:
        errors += [invalid(path, key, fault) for fault in label_key_faults(key.lower())]
    if sum(len(key.encode()) + len(value.encode()) for key, value in (found or {}).items()) > _ANNOTATIONS:
        errors.append(too_long(path, _ANNOTATIONS))
    return errors


def selector_rule(path: str, key: str, operator: str, values: Sequence[str]) -> list[FieldError]:
    """One of a label selector's matchExpressions."""
    errors = []
    if operator in ("In", "NotIn"):
        if not values:
            errors.append(required(child(path, "values"), "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(forbidden(child(path, "values"), why))
    else:
        errors.append(invalid(child(path, "operator"), operator, "not a valid selector operator"))
    errors += label_key(child(path, "key"), key)
    for at, value in enumerate(values):
        errors += [invalid(f"{path}.values[{at}]", value, fault) for fault in label_value_faults(value)]
    return errors


def domain_prefixed_path(path: str, value: str) -> list[FieldError]:
    """`acme.io/some-name`, as Kubernetes writes the names of controllers."""
    if not value:
        return [required(path)]
    prefix, slash, rest = value.partition("/")
    if not (prefix and slash and rest):
        return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    errors = [invalid(path, prefix, fault) for fault in subdomain_faults(prefix)]
    if not _is_http_path(rest):
        errors.append(invalid(path, rest, f"Invalid path (regex used for validation is '{_HTTP_PATH}')"))
    return errors
