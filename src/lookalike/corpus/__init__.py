"""A corpus: which files it is made of, their rows and documents, and how rows are written."""
