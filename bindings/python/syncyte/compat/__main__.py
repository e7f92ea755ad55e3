"""``python -m syncyte.compat script.py [arguments]``: as ``python -m syncyte``, where ``import mpi4torch`` works."""

import sys

from syncyte.__main__ import main
from syncyte.compat import install

if __name__ == "__main__":
    install()
    sys.exit(main(sys.argv[1:]))
