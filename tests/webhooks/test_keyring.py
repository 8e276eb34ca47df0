"""Certificates and their rotation as functions of the time: what is served is trusted at every moment."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store

from controller.kit.certificates import LEAF_LIFE, Pair, bundle, ends, make_authority, make_leaf, names_of, split
from controller.kit.keyring import SETTLE, Keyring, first, from_secret, next_step, to_secret
from controller.kit.serving import BadPair, Serving

NAMES = ["kueue-webhook-service.kueue-system.svc", "localhost", "127.0.0.1"]
START = datetime(2026, 1, 1, tzinfo=UTC)


def _trusts(bundle: tuple[bytes, ...], leaf: Pair, now: datetime) -> None:
    """As a strict verifier judges it at that time; raises when it does not."""
    store = Store([x509.load_pem_x509_certificate(authority) for authority in bundle])
    verifier = PolicyBuilder().store(store).time(now).build_server_verifier(x509.DNSName(NAMES[0]))
    verifier.verify(x509.load_pem_x509_certificate(leaf.certificate), [])


def test_a_new_keyring_is_trusted_by_its_own_bundle() -> None:
    ring = first(NAMES, START)
    _trusts(ring.trusted, ring.leaf, START)
    assert names_of(ring.leaf.certificate) == NAMES


def test_nothing_is_due_right_after_the_start() -> None:
    ring = first(NAMES, START)
    assert next_step(ring, NAMES, START + timedelta(days=200), everywhere=True) is ring


def test_a_leaf_is_renewed_long_before_its_end_by_the_same_authority() -> None:
    ring = first(NAMES, START)
    later = START + LEAF_LIFE - timedelta(days=120)
    renewed = next_step(ring, NAMES, later, everywhere=True)
    assert renewed.authority == ring.authority
    assert ends(renewed.leaf.certificate) == later + LEAF_LIFE
    _trusts(ring.trusted, renewed.leaf, later)


def test_a_new_name_is_added_and_old_ones_stay_so_that_two_replicas_agree() -> None:
    ring = first(NAMES, START)
    mine = next_step(ring, ["10.0.0.7"], START, everywhere=True)
    assert set(names_of(mine.leaf.certificate)) == {*NAMES, "10.0.0.7"}
    assert next_step(mine, NAMES, START, everywhere=True) is mine


def test_a_new_authority_signs_only_after_every_bundle_trusted_it_for_a_while() -> None:
    ring = first(NAMES, START)
    due = START + timedelta(days=3650 - 729)
    made = next_step(ring, NAMES, due, everywhere=False)
    assert made.successor is not None
    assert made.trusted == (ring.authority.certificate, made.successor.certificate)
    _trusts(ring.trusted, made.leaf, due)  # still by the old one
    assert next_step(made, NAMES, due, everywhere=False) is made
    published = next_step(made, NAMES, due, everywhere=True)
    assert published.published == due
    assert next_step(published, NAMES, due + SETTLE / 2, everywhere=True) is published
    assert next_step(published, NAMES, due + SETTLE, everywhere=False) is published
    settled = next_step(published, NAMES, due + SETTLE, everywhere=True)
    assert settled.authority == made.successor
    _trusts((made.successor.certificate,), settled.leaf, due + SETTLE)
    assert settled.trusted == made.trusted


def test_over_thirty_years_whatever_any_replica_serves_is_trusted_by_every_bundle() -> None:
    """A replica may be one step behind with its leaf, a caBundle one step behind with its trust."""
    now, ring = START, first(NAMES, START)
    renewals = 0
    while now < START + timedelta(days=365 * 30):
        following = next_step(ring, NAMES, now, everywhere=True)
        for leaf in (ring.leaf, following.leaf):
            for trusted in (ring.trusted, following.trusted):
                _trusts(trusted, leaf, now)
        renewals += following.authority != ring.authority
        now += timedelta(days=20) if following is ring else SETTLE
        ring = following
    assert renewals == 3
    assert len(ring.trusted) <= 2


def test_an_authority_that_has_ended_is_no_longer_trusted() -> None:
    old = make_authority(START - timedelta(days=3651))
    fresh = first(NAMES, START)
    ring = Keyring((old.certificate, *fresh.trusted), fresh.authority, fresh.leaf)
    assert next_step(ring, NAMES, START, everywhere=True).trusted == fresh.trusted


def test_a_secret_holds_the_whole_keyring() -> None:
    ring = first(NAMES, START)
    made = next_step(ring, NAMES, START + timedelta(days=3000), everywhere=False)
    published = next_step(made, NAMES, START + timedelta(days=3000), everywhere=True)
    for each in (ring, made, published):
        assert from_secret(to_secret(each)) == each


@pytest.mark.parametrize("part", ["ca.crt", "ca.key", "authority.crt", "tls.crt", "published", "successor.key"])
def test_a_damaged_secret_is_no_keyring_or_is_mended(part: str) -> None:
    due = START + timedelta(days=3000)
    ring = next_step(next_step(first(NAMES, START), NAMES, due, everywhere=False), NAMES, due, everywhere=True)
    found = from_secret({**to_secret(ring), part: "bm90IGEgY2VydGlmaWNhdGU="})
    if found is not None:
        mended = next_step(found, NAMES, due, everywhere=False)
        _trusts(mended.trusted, mended.leaf, due)
    assert from_secret({**to_secret(ring), part: "!"}) is None
    assert from_secret({}) is None


def test_a_bundle_is_split_into_what_it_was_made_of() -> None:
    one, two = make_authority(START), make_authority(START)
    assert split(bundle(one.certificate, two.certificate, one.certificate)) == [
        one.certificate,
        two.certificate,
    ]


def test_a_key_that_does_not_fit_leaves_the_old_certificate_in_service() -> None:
    now = datetime.now(UTC)  # TLS asks the machine's clock
    authority = make_authority(now)
    good, other = (make_leaf(authority, NAMES, now) for _ in range(2))
    serving = Serving()
    assert serving.load(good)
    assert not serving.load(good)
    with pytest.raises(BadPair):
        serving.load(Pair(other.certificate, good.key))
    with pytest.raises(BadPair):
        serving.load(Pair(b"", b""))
    assert _served(serving, authority) == ssl.PEM_cert_to_DER_cert(good.certificate.decode())


def _served(serving: Serving, authority: Pair) -> bytes | None:
    """The certificate of a handshake in memory."""
    client = ssl.create_default_context(cadata=authority.certificate.decode())
    client.verify_mode, client.check_hostname = ssl.CERT_REQUIRED, True
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(to_client, to_server, server_hostname="localhost")
    theirs = serving.context.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(4):
        for side in (ours, theirs):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return ours.getpeercert(binary_form=True)


def test_keys_never_stay_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    Serving().load(make_leaf(make_authority(START), NAMES, START))
    assert list(tmp_path.iterdir()) == []
