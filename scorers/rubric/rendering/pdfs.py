"""PDF: one page, without annotations, forms, scripts or embedded files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

_MOST_ASPECT = 50


def draw_pdf(content: bytes, side: int, page: int) -> tuple[Image, dict[str, Any]]:
    """Draw a page so that its longer side has about `side` pixels, and return its facts.

    Raises
    ------
    ValueError
        There is no such page, or it has no size that can be drawn.
    pypdfium2.PdfiumError
        It cannot be read, or is encrypted.
    """
    import pypdfium2

    document = pypdfium2.PdfDocument(content)
    pages = len(document)
    if page >= pages:
        raise ValueError(f"has {pages} pages")
    opened = document[page]
    width, height = opened.get_size()
    if min(width, height) <= 0 or max(width, height) > _MOST_ASPECT * min(width, height):
        raise ValueError(f"has a page of {width:g} × {height:g} points")
    bitmap = opened.render(scale=side / max(width, height), draw_annots=False, may_draw_forms=False)
    facts = {"format": "PDF", "vector": True, "width": width, "height": height, "pages": pages}
    return bitmap.to_pil(), facts
