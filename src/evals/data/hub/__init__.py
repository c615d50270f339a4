"""Released data: fetched from a hub, checked, kept with a record, removed."""
