from lookalike.embedders.base import Embedder as Embedder
from lookalike.embedders.causal import CausalModel as CausalModel, causal_model as causal_model

__all__: list[str]
