"""Our own certificate authority: making, checking and renewing, each a function of the time it is told.

P-256 throughout. Extensions are what strict verifiers (Go, Python 3.13) ask for: key usage, subject and authority
key identifiers, and names only as alternative names.
"""

import ipaddress
import os
import ssl
import tempfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# The authority outlives clusters, so that it is renewed rarely; the leaf stays below the 398 days that some verifiers
# allow. Both are renewed long before, so that a process that was away for months still finds them good.
AUTHORITY_LIFE, LEAF_LIFE = timedelta(days=3650), timedelta(days=365)
RENEW_AUTHORITY, RENEW_LEAF = timedelta(days=730), timedelta(days=122)  # this long before the end
_USES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)
SKEW = timedelta(hours=1)  # by how much the API server's clock may be behind ours


class Pair(NamedTuple):
    """A certificate and its private key, as PEM."""

    certificate: bytes
    key: bytes


def make_authority(now: datetime) -> Pair:
    """A new self-signed authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"lockgate-{now:%Y%m%d%H%M%S}")])
    usage = _usage(key_cert_sign=True, crl_sign=True)
    builder = (
        _builder(name, name, key.public_key(), now, AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
    )
    return _pair(builder, key, key)


def make_leaf(authority: Pair, names: Sequence[str], now: datetime) -> Pair:
    """A serving certificate for DNS names and IP addresses; never outlives its authority."""
    issuer = x509.load_pem_x509_certificate(authority.certificate)
    signing = serialization.load_pem_private_key(authority.key, password=None)
    assert isinstance(signing, ec.EllipticCurvePrivateKey)  # `keyring` admits no other
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "lockgate")])
    life = min(LEAF_LIFE, issuer.not_valid_after_utc - now)
    builder = (
        _builder(subject, issuer.subject, key.public_key(), now, life)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(digital_signature=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_alternative(name) for name in names]), critical=False)
        .add_extension(_issuer_key(issuer), critical=False)
    )
    return _pair(builder, key, signing)


def load_chain(context: ssl.SSLContext, pair: Pair) -> None:
    """Serve the pair. Raises ssl.SSLError, OSError, ValueError when it can't be."""
    # OpenSSL reads files only. The folder is ours alone and gone at once.
    with tempfile.TemporaryDirectory(prefix="lockgate-") as folder:
        certificate, key = Path(folder, "tls.crt"), Path(folder, "tls.key")
        for path, content in ((certificate, pair.certificate), (key, pair.key)):
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
        context.load_cert_chain(certificate, key)


def ends(certificate: bytes) -> datetime:
    """When a PEM certificate's validity ends. Raises ValueError."""
    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc


def authority_is_due(authority: bytes, now: datetime) -> bool:
    return ends(authority) - now < RENEW_AUTHORITY


def leaf_is_due(leaf: Pair, authority: Pair, names: Iterable[str], now: datetime) -> bool:
    """Whether a new one is needed: old, without one of the names, of another authority, or unreadable."""
    try:
        certificate = x509.load_pem_x509_certificate(leaf.certificate)
        certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(authority.certificate))
        key = serialization.load_pem_private_key(leaf.key, password=None)
    except (ValueError, TypeError, InvalidSignature):
        return True
    if key.public_key() != certificate.public_key() or not set(names) <= set(names_of(leaf.certificate)):
        return True
    return certificate.not_valid_after_utc - now < RENEW_LEAF


def names_of(certificate: bytes) -> list[str]:
    """The DNS names and addresses it is for; none if it is unreadable."""
    try:
        found = x509.load_pem_x509_certificate(certificate).extensions
        return [str(name.value) for name in found.get_extension_for_class(x509.SubjectAlternativeName).value]
    except (ValueError, x509.ExtensionNotFound):
        return []


def is_authority(pair: Pair) -> bool:
    """Whether certificate and key are a readable authority that can sign."""
    try:
        certificate = x509.load_pem_x509_certificate(pair.certificate)
        key = serialization.load_pem_private_key(pair.key, password=None)
    except (ValueError, TypeError):
        return False
    return isinstance(key, ec.EllipticCurvePrivateKey) and key.public_key() == certificate.public_key()


def bundle(*certificates: bytes) -> bytes:
    """Distinct certificates, one after the other, as a caBundle holds them."""
    return b"".join(dict.fromkeys(certificate.strip() + b"\n" for certificate in certificates))


def split(bundled: bytes) -> list[bytes]:
    """The certificates of a bundle. Raises ValueError."""
    if not bundled.strip():
        return []
    return [_pem(certificate) for certificate in x509.load_pem_x509_certificates(bundled)]


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, life: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now.astimezone(UTC) - SKEW)
        .not_valid_after(now.astimezone(UTC) + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _pair(
    builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey, signing: ec.EllipticCurvePrivateKey
) -> Pair:
    encoded = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return Pair(_pem(builder.sign(signing, hashes.SHA256())), encoded)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _usage(**granted: bool) -> x509.KeyUsage:
    return x509.KeyUsage(**{use: granted.get(use, False) for use in _USES})


def _issuer_key(issuer: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
