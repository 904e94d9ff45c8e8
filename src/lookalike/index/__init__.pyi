from lookalike.index.search import SimhashMatches as SimhashMatches, VectorMatches as VectorMatches
from lookalike.segments.band_index import BandIndex as BandIndex
from lookalike.stores.matches import FieldMatch as FieldMatch, Member as Member
from lookalike.stores.base import Added as Added, CheckReport as CheckReport

__all__: list[str]
