"""Reading and writing through the older version of our kinds, as the API server does it with our webhook.

What is written is defaulted and judged as the version that it is written in, and stored as the present one.
"""

from admission.api.crd import STORED
from admission.api.defaults import prune, with_defaults
from admission.api.violations import violations
from admission.conversion import Unconvertible, convert
from admission.model.kinds import KINDS, KUEUE, LOCKGATE, Ref
from admission.world.answers import bad_request, invalid
from admission.world.objects import Frozen, Object

# Of operators' kinds a cluster may serve any version.
_OF_ONE_VERSION = frozenset(key for key, kind in KINDS.items() if kind.group in (LOCKGATE, "batch", ""))


def version_of(manifest: Frozen) -> str:
    """Of a kind of ours; of any other the version that it has, which is the one that is stored."""
    group, _, version = str(manifest.get("apiVersion", "")).rpartition("/")
    return version if group == KUEUE else STORED


def shown(manifest: Frozen, version: str) -> Frozen:
    """A stored object as a reader of this version sees it. Refused where there is no such version."""
    if version == STORED or version == version_of(manifest):
        return manifest
    try:
        return convert(manifest, version)
    except Unconvertible as error:
        raise bad_request(f"conversion webhook for {manifest.get('apiVersion')} failed: {error}") from error


def taken(ref: Ref, new: Object, old: Frozen | None = None) -> Object:
    """What is written in any version, as it is stored. `old`: what it replaces, in the same version. Refused."""
    version = version_of(new)
    if ref.kind in _OF_ONE_VERSION and new.get("apiVersion") != KINDS[ref.kind].api_version:
        raise bad_request(f'no matches for kind "{new.get("kind")}" in version "{new.get("apiVersion")}"')
    if version == STORED:
        return new
    try:
        convert(new, STORED)
        new = with_defaults(ref.kind, prune(ref.kind, new, version), version)
    except (Unconvertible, KeyError) as error:
        raise bad_request(f"no matches for kind in version {new.get('apiVersion')}: {error}") from error
    if errors := violations(ref.kind, new, old, version):
        raise invalid(ref, [str(error) for error in errors])
    return convert(new, STORED)
