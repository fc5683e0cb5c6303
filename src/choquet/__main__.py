"""`python -m choquet` is the command line."""

import sys

from choquet.cli import main

if __name__ == "__main__":
    sys.exit(main())
