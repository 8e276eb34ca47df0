"""Kueue's Configuration file: what is understood is kept, what is not is named."""

from pathlib import Path

import pytest

from controller.kube.configuration import BadConfiguration, Settings, read_settings
from controller.kube.lease import Timings

HEAD = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"


def _read(folder: Path, text: str) -> Settings:
    file = folder / "config.yaml"
    file.write_text(text)
    return read_settings(file)


def test_an_empty_configuration_means_the_defaults(tmp_path: Path) -> None:
    assert _read(tmp_path, HEAD) == Settings()


def test_what_kueue_users_write_is_understood(tmp_path: Path) -> None:
    settings = _read(
        tmp_path,
        HEAD
        + """
namespace: lockgate
manageJobsWithoutQueueName: true
managedJobsNamespaceSelector: {matchLabels: {managed: "yes"}}
leaderElection: {leaderElect: false, leaseDuration: 30s, renewDeadline: 20s, retryPeriod: 1s, resourceName: office}
clientConnection: {qps: 50, burst: 100}
health: {healthProbeBindAddress: ":1"}
metrics: {bindAddress: ":2"}
integrations: {frameworks: [batch/job]}
""",
    )
    assert settings.core.namespace == "lockgate"
    assert settings.core.manage_jobs_without_queue_name
    assert settings.core.managed_jobs_namespace_selector.matches({"managed": "yes"})
    assert not settings.core.managed_jobs_namespace_selector.matches({})
    assert settings.timings == Timings(lease=30, deadline=20, retry=1)
    assert (settings.leader_elect, settings.lease_name) == (False, "office")
    assert (settings.requests_per_second, settings.request_burst) == (50, 100)
    assert (settings.health_bind, settings.metrics_bind) == (":1", ":2")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[]", "must be one YAML object"),
        ("a: [", "cannot be read"),
        ("kind: Deployment", "not a config.kueue.x-k8s.io Configuration"),
        (HEAD + "fairSharing: {}", "fairSharing: unknown, or without effect"),
        (HEAD + "leaderElection: {leaseDuratoin: 1s}", "leaderElection.leaseDuratoin: unknown"),
        (HEAD + "leaderElection: {leaseDuration: soon}", "leaderElection.leaseDuration: 'soon' is not a duration"),
        (HEAD + "leaderElection: {leaseDuration: 5s}", "must be longer"),
        (
            HEAD + "integrations: {frameworks: [batch/job, pod]}",
            "integrations.frameworks: \\['pod'\\]: this version has",
        ),
        (HEAD + "integrations: {frameworks: []}", "integrations.frameworks: nothing: this version has batch/job"),
        (HEAD + "leaderElection: 5", "leaderElection must be a mapping"),
        (HEAD + "manageJobsWithoutQueueName: 1", "manageJobsWithoutQueueName: 1 is not a boolean"),
        (HEAD + "clientConnection: {burst: 1.5}", "clientConnection.burst: 1.5 is not a whole number"),
        (HEAD + "clientConnection: {burst: true}", "clientConnection.burst: True is not a whole number"),
    ],
)
def test_what_is_wrong_is_named_with_its_file(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(BadConfiguration, match=complaint) as caught:
        _read(tmp_path, text)
    assert str(tmp_path / "config.yaml") in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match="nowhere"):
        read_settings(tmp_path / "nowhere")
