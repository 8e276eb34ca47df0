"""Certificates for a cluster that lives for minutes: authorities, leaves signed by them, and the service account key.

RSA in PKCS#1 form throughout, since Kueue's own rotation reads nothing else.
"""

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFE = datetime.timedelta(days=365)  # Kueue renews what ends within 90 days
SLACK = datetime.timedelta(hours=1)  # clocks of the machine's parts differ


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: rsa.RSAPrivateKey

    @property
    def certificate_pem(self) -> bytes:
        """The certificate as the components read it."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """The private key as the components read it."""
        return key_pem(self.key)

    def write(self, folder: Path, name: str) -> tuple[Path, Path]:
        """Write NAME.crt and NAME.key; the key only for its owner."""
        folder.mkdir(parents=True, exist_ok=True)
        certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
        certificate.write_bytes(self.certificate_pem)
        write_secret(key, self.key_pem)
        return certificate, key


def new_key() -> rsa.RSAPrivateKey:
    """A fresh key."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def key_pem(key: rsa.RSAPrivateKey) -> bytes:
    """A private key in PKCS#1 PEM."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def write_secret(path: Path, content: bytes) -> None:
    """Write a file only its owner can read."""
    path.touch(mode=0o600)
    path.write_bytes(content)


def authority(common_name: str) -> Pair:
    """A self-signed authority; its name is an alternative name too, which Kueue checks."""
    key = new_key()
    builder = _builder(common_name, common_name, key)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    builder = builder.add_extension(_usage(signs=True), critical=True)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(common_name)]), critical=False)
    return Pair(builder.sign(key, hashes.SHA256()), key)


def leaf(ca: Pair, common_name: str, names: tuple[str, ...] = ()) -> Pair:
    """A certificate for serving under `names` (host names or addresses) and for calling as `common_name`."""
    key = new_key()
    issuer = ca.certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value
    builder = _builder(common_name, str(issuer), key)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_usage(signs=False), critical=True)
    both = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
    builder = builder.add_extension(both, critical=False)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([_name(name) for name in names]), critical=False)
    return Pair(builder.sign(ca.key, hashes.SHA256()), key)


def _builder(subject: str, issuer: str, key: rsa.RSAPrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return x509.CertificateBuilder(
        issuer_name=_common(issuer),
        subject_name=_common(subject),
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now - SLACK,
        not_valid_after=now + LIFE,
    )


def _common(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
