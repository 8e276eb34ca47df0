"""Kueue's Go module: the commands built from it, and the files of it that we read."""

from functools import cache
from pathlib import Path

from hack.cluster.gobuild import Tool, module_dir

MODULE = "sigs.k8s.io/kueue"
_GO = Path(__file__).parent / "go" / "kueue"
_STAMP = ("sigs.k8s.io/kueue/pkg/version.GitVersion={version}",)

MANAGER = Tool("kueue", _GO, f"{MODULE}/cmd/kueue", MODULE, _STAMP, 290)
KUEUECTL = Tool("kueuectl", _GO, f"{MODULE}/cmd/kueuectl", MODULE, _STAMP, 20)
ALL = (MANAGER, KUEUECTL)


@cache
def sources() -> Path:
    """The module's folder; read only."""
    return module_dir(_GO, MODULE)


def generator_yaml(mix: str = "baseline") -> Path:
    """What Kueue's own benchmark creates: `baseline`, `large-scale` or `tas`."""
    return sources() / "test" / "performance" / "scheduler" / "configs" / mix / "generator.yaml"


def shipped_configuration() -> Path:
    """The manager's settings as Kueue ships them."""
    return sources() / "config" / "components" / "manager" / "controller_manager_config.yaml"
