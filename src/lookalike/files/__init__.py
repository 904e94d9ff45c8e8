"""Text out of files: documents, tables, mail and archives, read in a process of its own with limits on everything."""

from lookalike.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "lookalike.files.limits": "Limits",
        "lookalike.files.model": "FileText Place",
        "lookalike.files.reading": "read_many read_members",
    },
)
