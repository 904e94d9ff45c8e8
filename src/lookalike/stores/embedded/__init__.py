"""The store in a folder, or in memory: SQLite is the truth, segments are a cache of it."""
