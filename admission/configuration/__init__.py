"""Kueue's Configuration file, in both its versions: from plain content to settings, or to everything wrong with it.

One reader for all: the live processes, `lockgate check-config`, simulations and the `config` of scenarios.
"""

from admission.configuration.fields import Note, Path, Problem, dotted
from admission.configuration.process import Process
from admission.configuration.reader import SECTIONS, Reading, read
from admission.configuration.selectors import system_excluded

__all__ = ["SECTIONS", "Note", "Path", "Problem", "Process", "Reading", "dotted", "read", "system_excluded"]
