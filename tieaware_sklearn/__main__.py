"""``python -m tieaware_sklearn``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
