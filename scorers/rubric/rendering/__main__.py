"""Draws one file of a submission in a process of its own: `python -m scorers.rubric.rendering`.

The file comes on standard input. Out go a line of JSON and the PNG, or exit code 1 and why.
Decoders in C and Rust meet whatever an agent wrote here; what they break is this process alone.
"""

from __future__ import annotations

import json
import sys

MEMORY_BYTES = 3 * 2**30


def main() -> int:
    """Draw what the arguments say: format, longer side, bytes at most, page."""
    kind, side, most_bytes, page = sys.argv[1], *map(int, sys.argv[2:5])
    _limit()
    from scorers.rubric.rendering.pdfs import draw_pdf
    from scorers.rubric.rendering.png import bounded_png
    from scorers.rubric.rendering.rasters import draw_raster
    from scorers.rubric.rendering.svgs import draw_svg

    content = sys.stdin.buffer.read()
    try:
        if kind == "SVG":
            image, facts = draw_svg(content, side)
        elif kind == "PDF":
            image, facts = draw_pdf(content, side, page)
        else:
            image, facts = draw_raster(content, kind, side)
        png, size = bounded_png(image, side, most_bytes)
    except MemoryError:
        print("needs too much memory", file=sys.stderr)
        return 1
    except Exception as fault:  # whatever a decoder raises of a file means the same
        told = str(fault) if type(fault) is ValueError else f"{type(fault).__name__}: {fault}"
        print(" ".join(told.split())[:300], file=sys.stderr)
        return 1
    sys.stdout.buffer.write(json.dumps({"size": size, "facts": facts}).encode() + b"\n" + png)
    return 0


def _limit() -> None:
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(main())
