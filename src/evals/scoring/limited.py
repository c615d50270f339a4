"""Set limits on this process, then become the given command.

Run as a script, by its path, with nothing but the standard library: `limited.py NAME=VALUE … --
COMMAND …`, where each name is one of the system's (`RLIMIT_AS` …). Setting the limits here, after
the start, is safe with threads in the parent, which a `preexec_fn` is not.
"""

import contextlib
import os
import resource
import sys


def main(arguments: list[str]) -> None:
    """Lower each named limit, as far as the system lets us, and run the command."""
    end = arguments.index("--")
    for setting in arguments[:end]:
        name, _, value = setting.partition("=")
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        wanted = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
        # Some systems (macOS) know a limit's name and refuse to set it.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (wanted, wanted))
    os.execv(arguments[end + 1], arguments[end + 1 :])


if __name__ == "__main__":
    main(sys.argv[1:])
