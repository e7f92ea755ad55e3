# SPDX-License-Identifier: BSD-3-Clause
"""Makes the example's modules importable."""

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.normpath(os.path.join(FOLDER, "..", "..", "..", "examples", "tsunami"))
if EXAMPLE not in sys.path:
    sys.path.insert(0, EXAMPLE)
