from lookalike.index.admit import Admitted as Admitted
from lookalike.index.asynchronous import AsyncIndex as AsyncIndex
from lookalike.index.collections import Collections as Collections
from lookalike.index.kept_vectors import KeptModel as KeptModel, kept_model as kept_model
from lookalike.index.own_tables import TableCollection as TableCollection, drop_collection as drop_collection, index_table as index_table
from lookalike.index.search import SimhashMatches as SimhashMatches, VectorMatches as VectorMatches
from lookalike.index.set_index import SetIndex as SetIndex
from lookalike.segments.band_index import BandIndex as BandIndex
from lookalike.stores.base import Added as Added, CheckReport as CheckReport
from lookalike.stores.clusters import Cluster as Cluster, Clusters as Clusters, Member as Member
from lookalike.stores.matches import FieldMatch as FieldMatch, Match as Match, Matches as Matches

__all__: list[str]
