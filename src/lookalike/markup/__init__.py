"""HTML as data: bytes become text, text becomes a page of tags and texts, a page becomes its main text."""
