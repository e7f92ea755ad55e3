"""``python -m syncyte.compat script.py``: as ``python -m syncyte``, where ``import mpi4torch`` and so on work."""

import sys

from syncyte.__main__ import main
from syncyte.compat import install

if __name__ == "__main__":
    install()
    sys.exit(main(sys.argv[1:]))
