"""`python -m scorers`."""

import sys

from scorers.cli import main

if __name__ == "__main__":
    sys.exit(main(own_process=True))
