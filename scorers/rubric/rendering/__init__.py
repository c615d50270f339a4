"""Figures of a submission, drawn anew as small PNGs that hold nothing but pixels."""
