"""What every report is made of: safe text, one frame and one look, tables, plots and the marks of edits."""
