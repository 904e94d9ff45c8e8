from lookalike.files.limits import Limits as Limits
from lookalike.files.model import FileText as FileText, Place as Place
from lookalike.files.reading import read_many as read_many, read_members as read_members
