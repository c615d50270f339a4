"""Where the capsules' data come from: made here, or already on this machine."""
