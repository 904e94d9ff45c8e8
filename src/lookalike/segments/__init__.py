"""Structures that find what looks like a given thing. Everything they report was verified."""
