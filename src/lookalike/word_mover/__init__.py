"""Word Mover's Distance: word vectors, bags of words, exact transport between them, and the nearest texts of a collection."""
