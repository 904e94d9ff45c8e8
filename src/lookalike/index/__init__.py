"""Indexes: a recipe and a store, searchable."""
