"""Which cases one product of the run's own serves: those with the same configuration, the harmless side by side."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from admission.model.configuration import Configuration
from admission.world.scenario.file_form import Config
from admission.world.scenario.runner import Result, configuration_of
from controller.cli.live.needs import disturbs


@dataclass(slots=True)
class Turn:
    """`config`: of the first case; None: none of them has one, and `otherwise` are the flags of the run."""

    core: Configuration
    config: Config | None
    otherwise: Sequence[str]
    harmless: list[Result] = field(default_factory=list)
    disturbing: list[Result] = field(default_factory=list)  # one after another, when the others are done

    def flags(self, folder: Path) -> list[str]:
        """How the product is told its configuration; a file that this takes is written into the folder."""
        if self.config is None:
            return list(self.otherwise)
        file = folder / "configuration.yaml"
        file.write_text(json.dumps(self.config.model_dump()), encoding="utf-8")
        return [f"--config={file}"]


def turns(results: Sequence[Result], running: Configuration, flags: Sequence[str]) -> list[Turn]:
    """In the order of the first case of each; `running` and `flags` are for cases without a config of their own."""
    found: list[Turn] = []
    for result in results:
        config = result.case.form.config
        core = configuration_of(config) if config is not None else running
        turn = next((turn for turn in found if turn.core == core), None)
        if turn is None:
            turn = Turn(core, config, flags)
            found.append(turn)
        (turn.disturbing if disturbs(result.case.form) else turn.harmless).append(result)
    return found
