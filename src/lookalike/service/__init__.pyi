from lookalike.service.starting import serve as serve

__all__: list[str]
