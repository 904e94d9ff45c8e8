from lookalike.word_mover.index import WmdIndex as WmdIndex, WmdMatch as WmdMatch
from lookalike.word_mover.loading import word_vectors as word_vectors
from lookalike.word_mover.mover import WordMover as WordMover
from lookalike.word_mover.tables import WordTable as WordTable

__all__: list[str]
