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
        ("[]", "holds no object; must be one YAML object"),
        ("---\n---\n", "holds 0 documents"),
        (HEAD + "---\n" + HEAD, "holds 2 documents"),
        ("a: [", "cannot be read: is not YAML"),
        (HEAD + "fairSharing: {}\nfairSharing: {}", "4: cannot be read: fairSharing is given twice"),
        (HEAD + "health: {healthProbeBindAddress: 8081}", "3: health.healthProbeBindAddress: 8081 is not a string"),
        (
            HEAD + "leaderElection:\n  leaseDuratoin: 1s",
            "4: leaderElection.leaseDuratoin: .* did you mean leaseDuration",
        ),
        (HEAD + "leaderElection: {leaseDuration: 5s}", "not longer than renewDeadline 10s plus retryPeriod 2s"),
    ],
)
def test_what_is_wrong_is_named_with_its_file(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(BadConfiguration, match=complaint) as caught:
        _read(tmp_path, text)
    assert str(tmp_path / "config.yaml") in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match="nowhere: cannot be read: No such file"):
        read_settings(tmp_path / "nowhere")


def test_all_faults_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration) as caught:
        _read(tmp_path, HEAD + "wehbook: {}\nfairSharing: {}\nclientConnection: {qps: 0}\n")
    assert [fault.line for fault in caught.value.faults] == [3, 4, 5]
    assert len(str(caught.value).splitlines()) == 3


def test_the_flag_of_feature_gates_does_not_go_with_the_field(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(HEAD + "featureGates: {}")
    with pytest.raises(BadConfiguration, match="featureGates: stands in the file while --feature-gates is given"):
        read_settings(file, feature_gates="PartialAdmission=false")
    assert not read_settings(None, feature_gates="PartialAdmission=false").core.gates["PartialAdmission"]


def test_the_namespace_of_a_flag_wins_over_the_files_and_that_over_the_pods(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(HEAD + "namespace: files")
    assert read_settings(file, namespace="flag", home="pod").core.namespace == "flag"
    assert read_settings(file, home="pod").core.namespace == "files"
    settings = read_settings(None, home="pod")
    assert settings.core.namespace == "pod"
    assert not settings.core.managed_jobs_namespace_selector.matches({"kubernetes.io/metadata.name": "pod"})


def test_a_negative_rate_sets_no_limit(tmp_path: Path) -> None:
    assert _read(tmp_path, HEAD + "clientConnection: {qps: -1}").requests_per_second > 1e6


def test_a_file_that_is_no_configuration_by_its_size_is_not_read_on(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match="larger than 1 MiB"):
        _read(tmp_path, "#" * 2**21)
