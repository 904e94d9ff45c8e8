"""A folder against itself: all pairs of documents that share passages, ranked, without comparing each with each."""
