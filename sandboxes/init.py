"""Process 1 of a sandbox: it reaps what dies, and nothing inside the container can end it.

The kernel spares process 1 from every signal that it has no handler for, unless the signal comes
from outside the container. A handler of SIGCHLD is not needed: while it is ignored, the kernel
reaps orphans by itself. Not being dumpable keeps processes of the same user from tracing it.
"""

import ctypes
import signal

PR_SET_DUMPABLE = 4

signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
while True:
    signal.pause()
