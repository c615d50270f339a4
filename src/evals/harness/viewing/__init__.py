"""Renders views of images and volumes. The modules here run inside the sandbox, read from stdin.

They stand alone on purpose: NumPy, tifffile and Pillow are all that they need, and they read only
the planes that are shown.
"""
