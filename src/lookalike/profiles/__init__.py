"""What a file is about, as a record: words of its name, dates, amounts, identifiers and keywords of its content, its label."""
