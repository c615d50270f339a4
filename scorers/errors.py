"""Two kinds of fault: the submission's, which is a score with a reason, and ours, which is not."""


class SubmissionFault(Exception):
    """What a submission did wrong: it earns a score with this reason."""


class CapsuleFault(Exception):
    """A broken capsule or reference: our own fault, never a score."""
