"""What is wrong with a task folder, an edition or a submission, before anything is run."""
