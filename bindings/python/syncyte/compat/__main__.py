# SPDX-License-Identifier: BSD-3-Clause
"""``python -m syncyte.compat script.py``: runs ``python -m syncyte script.py`` after syncyte.compat.install()."""

import sys

from syncyte.__main__ import main
from syncyte.compat import install

if __name__ == "__main__":
    install()
    sys.exit(main(sys.argv[1:]))
