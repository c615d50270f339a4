"""Submissions that lie on this machine, in the layout that BIABench exports."""
