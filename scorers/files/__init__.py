"""Reading what a submission holds: the only place where files of a submission are opened."""
