"""Small pictures that show where a submission was right and wrong."""
