from lookalike.io import TextFile as TextFile, decode_text as decode_text, read_text as read_text
from lookalike.model import Passage as Passage, Span as Span, Token as Token
from lookalike.text.code import Code as Code
from lookalike.text.dictionaries import register_dictionary as register_dictionary
from lookalike.text.idf import Idf as Idf, idfs as idfs
from lookalike.text.keywords import Keyword as Keyword
from lookalike.text.learn import learn_idf as learn_idf
from lookalike.text.maximum_matching import register_words as register_words
from lookalike.text.normalize import fold as fold
from lookalike.text.segment import segmenters as segmenters
from lookalike.text.shingle import shingles as shingles
from lookalike.text.stopwords import register_stop_words as register_stop_words

__all__: list[str]
