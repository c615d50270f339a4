"""How large a view may be: what the renderer keeps to and the tool insists on."""

MAX_SIDE = 1024  # pixels of the picture
SMALL_SIDE = 512  # smaller views are enlarged by whole factors up to this
MAX_PNG_BYTES = 1_500_000
