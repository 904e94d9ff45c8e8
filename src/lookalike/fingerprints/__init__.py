"""Short values that stand for things, so that like things have like values: one file per fingerprint."""

from lookalike.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "lookalike.fingerprints.base": "Fingerprint NoFingerprint",
        "lookalike.fingerprints.digest": "Digest digests",
        "lookalike.fingerprints.every": "Fingerprints parse_record",
        "lookalike.fingerprints.fuzzy_mmdt": "Mmdt mmdt mmdts",
        "lookalike.fingerprints.fuzzy_nilsimsa": "Nilsimsa nilsimsa nilsimsas",
        "lookalike.fingerprints.fuzzy_ssdeep": "Ssdeep ssdeeps",
        "lookalike.fingerprints.fuzzy_tlsh": "Tlsh tlshs",
        "lookalike.fingerprints.karp_rabin": "KarpRabin karp_rabins",
        "lookalike.fingerprints.minhash": "BBitMinHash WeightedMinHash weighted_minhash weighted_minhashes",
        "lookalike.fingerprints.record": "FieldPrint RecordPrint records",
        "lookalike.fingerprints.winnowing": "Winnowing Winnowings winnows",
    },
)
