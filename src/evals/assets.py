"""Where the capsules and the sandbox recipes that ship with the package lie."""

from pathlib import Path


def assets() -> Path:
    """Return the folder that holds `tasks/` and `sandboxes/`.

    In a checkout (editable install) it is the root of the checkout, in a wheel a folder inside
    the package.
    """
    package = Path(__file__).resolve().parent
    packed = package / "_assets"
    return packed if packed.is_dir() else package.parents[1]
