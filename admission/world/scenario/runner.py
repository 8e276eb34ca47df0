"""Runs one scenario: its events on the virtual clock, its expectations when everything is at rest."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby

from admission.configuration import read
from admission.model.configuration import DEFAULTS, Configuration
from admission.world.clock import EPOCH
from admission.world.scenario.case import Case
from admission.world.scenario.events import Events
from admission.world.scenario.expectation_forms import Expectation, RequestIs
from admission.world.scenario.file_form import Config
from admission.world.scenario.judge import Mismatch, judge
from admission.world.scenario.needs import lacking
from admission.world.scenario.recorder import Recorder
from admission.world.scenario.watchman import Watchman
from admission.world.stage import Stage
from admission.world.world import World

Look = Callable[[], list[Mismatch]]


@dataclass(frozen=True, slots=True)
class Failure:
    """What did not hold. `index` counts in `section` (expect, always or events); `mismatch` only for expectations."""

    section: str
    index: int
    message: str
    mismatch: Mismatch | None = None


@dataclass(slots=True)
class Result:
    """`missing`: why the case was not run; else it passed if there are no failures."""

    case: Case
    missing: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        return "unsupported" if self.missing else "failed" if self.failures else "passed"


def run_case(case: Case, otherwise: Configuration = DEFAULTS) -> Result:
    """Run it in memory, or say what is missing for that. `otherwise`: for a case without a `config` of its own."""
    result = Result(case, lacking(case.form))
    if not result.missing:
        own = configuration_of(case.form.config) if case.form.config else otherwise
        play(result, World(replace(own, koordinator=otherwise.koordinator)))
    return result


def play(result: Result, stage: Stage, insist: Callable[[Look], list[Mismatch]] = lambda look: look()) -> None:
    """Play the case of `result` on a stage and note what failed. `insist` looks at an expectation: once, or again and
    again where being at rest can only be guessed."""
    _Run(result, stage, insist).run()


def configuration_of(config: Config) -> Configuration:
    """What a scenario's `config` means; reading the case has made sure that it is right."""
    reading = read(config.model_dump())
    assert not reading.problems, reading.problems
    return reading.core


class _Run:
    def __init__(self, result: Result, stage: Stage, insist: Callable[[Look], list[Mismatch]]) -> None:
        self.case = case = result.case
        self.result = result
        self.world = stage
        self.insist = insist
        self.recorder = Recorder(stage, case.form.objects, EPOCH)
        self.watchman = Watchman(case.form.always or (), stage, self.recorder)
        self.events = Events(case.form, stage, self.recorder, self.watchman)

    def run(self) -> None:
        try:
            self._run()
        except Exception as error:  # whatever breaks is the product's failure in this scenario, not the runner's end
            self.watchman.crashed(f"{type(error).__name__}: {error}")
            message = f"at t={self.recorder.t:g} the product broke: {type(error).__name__}: {error}"
            self.result.failures.append(Failure("events", self.events.current, message))
        for index, message in self.events.refused:
            self.result.failures.append(Failure("events", index, message))
        for index, how in sorted(self.watchman.broken.items()):
            self.result.failures.append(Failure("always", index, f"broken {how}"))

    def _run(self) -> None:
        self.events.start()
        self.world.settle()
        groups = [(t, list(group)) for t, group in groupby(enumerate(self.case.form.events), lambda pair: pair[1].t)]
        for position, (t, group) in enumerate(groups):
            self.world.advance(EPOCH + t)
            following = groups[position + 1][1] if position + 1 < len(groups) else []
            for index, event in group:
                self.events.carry_out(index, event)
            self.events.window([event for _, event in following])
            self.world.settle()
            self._judge(t)
        self._judge(None)

    def _judge(self, t: float | None) -> None:
        for index, expectation in enumerate(self.case.form.expect):
            if _moment(expectation) == t:
                for mismatch in self.insist(partial(judge, expectation, self.recorder)):
                    self.result.failures.append(Failure("expect", index, "", mismatch))


def _moment(expectation: Expectation) -> float | None:
    """When it is judged; None: at the end, as answers to requests stay."""
    return None if isinstance(expectation, RequestIs) else expectation.at
