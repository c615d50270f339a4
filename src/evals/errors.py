"""What goes wrong on our side, told in a way that helps to mend it.

Every error says what, where, what was expected, what was got and how to mend it. They are
`click.ClickException`s, so that the `inspect` and `evals` commands print the message without a
traceback, and built-in kinds, so that programs can catch them as usual.
"""

import click


class EvalsError(click.ClickException):
    """Base of all errors that this package raises on purpose."""


class UnknownNameError(EvalsError, LookupError):
    """A task, edition, option or choice that does not exist."""


class DataMissingError(EvalsError, FileNotFoundError):
    """Data that a run needs are not on this machine, or cannot be read."""


class CapsuleInvalidError(EvalsError, ValueError):
    """A capsule whose specification, rubric or layout breaks the format."""


class SandboxError(EvalsError, RuntimeError):
    """The sandbox is not what the design asks for."""


class GraderFailedError(EvalsError, RuntimeError):
    """The grader itself failed: the sample is an error, never a zero."""


class ModelFailedError(EvalsError, ConnectionError):
    """The model, or the way to it, failed: the sample is an error, never a zero."""
