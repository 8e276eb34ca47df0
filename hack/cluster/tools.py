"""The commands a cluster is made of. Their versions stand in go/*/go.mod; one Kubernetes version for everything."""

from pathlib import Path

from hack.cluster.gobuild import Tool

_GO = Path(__file__).parent / "go"
_VERSION = "k8s.io/component-base/version."
_KUBE_STAMP = (_VERSION + "gitVersion={version}", _VERSION + "gitMajor={major}", _VERSION + "gitMinor={minor}")


def _kube(name: str, seconds: int) -> Tool:
    return Tool(name, _GO / "kubernetes", f"k8s.io/kubernetes/cmd/{name}", "k8s.io/kubernetes", _KUBE_STAMP, seconds)


ETCD = Tool("etcd", _GO / "etcd", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3", (), 60)
APISERVER = _kube("kube-apiserver", 240)
CONTROLLER_MANAGER = _kube("kube-controller-manager", 60)
SCHEDULER = _kube("kube-scheduler", 10)
KWOK_STAMP = ("sigs.k8s.io/kwok/pkg/consts.Version={version}",)
KWOK = Tool("kwok", _GO / "kwok", "sigs.k8s.io/kwok/cmd/kwok", "sigs.k8s.io/kwok", KWOK_STAMP, 90)

ALL = (ETCD, APISERVER, CONTROLLER_MANAGER, SCHEDULER, KWOK)
