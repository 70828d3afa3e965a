"""The start of every operator: five questions, asked of a person, and the record of the answers.

For an editor: ``questions(lang, probe)`` says what to ask, ``record(answers)`` makes the record's text of the
answers and says what is wrong with them.  ``probe()`` looks at the machine; nothing is sourced, nothing imported.
"""

from __future__ import annotations

from opdev.intake.model import Option, Probe, Question, Remark
from opdev.intake.probes import probe
from opdev.intake.questions import TITLE, questions
from opdev.intake.recording import record

__all__ = ["TITLE", "Option", "Probe", "Question", "Remark", "probe", "questions", "record"]
