"""`evals validate`: what is wrong with capsules, editions and submissions."""
