"""Puts what the parts' tests make (``cases_made`` and its like), and the wheels of simulation, within reach of them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "pyptosim"))
