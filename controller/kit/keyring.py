"""Which certificates we hold and which step comes next: rotation as a function from one state to the next.

    new authority made -> in every caBundle for a while -> it signs a new leaf -> the old authority expires

At any moment every caBundle trusts the authority of every leaf that any replica may still serve, so no handshake ever
fails. The state is what the Secret holds, and replicas agree on it by its resourceVersion.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from controller.kit.certificates import (
    Pair,
    authority_is_due,
    bundle,
    ends,
    is_authority,
    leaf_is_due,
    make_authority,
    make_leaf,
    names_of,
    split,
)

# How long API servers may take to learn of a changed caBundle: they watch it, so a minute is generous.
SETTLE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Keyring:
    """`successor` is trusted but does not sign yet; `published` is when every caBundle held it."""

    trusted: tuple[bytes, ...]
    authority: Pair
    leaf: Pair
    successor: Pair | None = None
    published: datetime | None = None

    @property
    def ca_bundle(self) -> bytes:
        return bundle(*self.trusted)


def first(names: Sequence[str], now: datetime) -> Keyring:
    """Where there was nothing."""
    authority = make_authority(now)
    return Keyring((authority.certificate,), authority, make_leaf(authority, names, now))


def next_step(ring: Keyring, names: Sequence[str], now: datetime, everywhere: bool) -> Keyring:
    """The state to be stored next; the same object if nothing is to be done.

    `everywhere`: every caBundle of ours was just seen to trust all of `ring.trusted`.
    """
    step = _renewed_authority(ring, now, everywhere)
    if leaf_is_due(step.leaf, step.authority, names, now):
        # Names are only added, so that replicas with different addresses don't replace each other's for ever.
        every = sorted({*names, *names_of(step.leaf.certificate)})
        step = replace(step, leaf=make_leaf(step.authority, every, now))
    trusted = tuple(authority for authority in step.trusted if ends(authority) > now)
    return step if trusted == step.trusted else replace(step, trusted=trusted)


def _renewed_authority(ring: Keyring, now: datetime, everywhere: bool) -> Keyring:
    if ring.successor is None:
        if not authority_is_due(ring.authority.certificate, now):
            return ring
        successor = make_authority(now)
        return replace(ring, successor=successor, published=None, trusted=(*ring.trusted, successor.certificate))
    if ring.published is None:
        return replace(ring, published=now) if everywhere else ring
    if now - ring.published < SETTLE or not everywhere:
        return ring
    return replace(ring, authority=ring.successor, successor=None, published=None)


def to_secret(ring: Keyring) -> dict[str, str]:
    """The Secret's data. `tls.*` and `ca.crt` are where other tools look for them."""
    parts = {
        "ca.crt": ring.ca_bundle,
        "ca.key": ring.authority.key,
        "authority.crt": ring.authority.certificate,
        "tls.crt": ring.leaf.certificate,
        "tls.key": ring.leaf.key,
    }
    if ring.successor is not None:
        parts |= {"successor.crt": ring.successor.certificate, "successor.key": ring.successor.key}
    if ring.published is not None:
        parts["published"] = ring.published.astimezone(UTC).isoformat().encode()
    return {name: base64.b64encode(value).decode() for name, value in parts.items()}


def from_secret(data: Mapping[str, str]) -> Keyring | None:
    """None when the Secret holds no keyring of ours, or a damaged one: it is replaced."""
    try:
        parts = {name: base64.b64decode(value, validate=True) for name, value in data.items()}
        successor = None
        if "successor.crt" in parts:
            successor = Pair(parts["successor.crt"], parts["successor.key"])
        published = parts.get("published")
        authority = Pair(parts["authority.crt"], parts["ca.key"])
        trusted = tuple(split(parts["ca.crt"]))
        if not is_authority(authority) or (successor is not None and not is_authority(successor)):
            return None
        return Keyring(
            trusted if authority.certificate in trusted else (*trusted, authority.certificate),
            authority,
            Pair(parts["tls.crt"], parts["tls.key"]),
            successor,
            datetime.fromisoformat(published.decode()) if published else None,
        )
    except (KeyError, ValueError, binascii.Error):
        return None
