"""From text to tokens, words, keywords and shingles. Everything carries the place it came from."""
