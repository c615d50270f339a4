"""Inputs of the papers' size, made from a seed."""
