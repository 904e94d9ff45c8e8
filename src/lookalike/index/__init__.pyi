from lookalike.index.admit import Admitted as Admitted
from lookalike.index.search import SimhashMatches as SimhashMatches, VectorMatches as VectorMatches
from lookalike.stores.matches import FieldMatch as FieldMatch, Member as Member
from lookalike.stores.base import Added as Added, CheckReport as CheckReport

__all__: list[str]
