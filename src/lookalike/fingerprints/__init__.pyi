from lookalike.fingerprints.base import NoFingerprint as NoFingerprint
from lookalike.fingerprints.digest import Digest as Digest
from lookalike.fingerprints.every import Fingerprints as Fingerprints, parse_record as parse_record
from lookalike.fingerprints.fuzzy_mmdt import Mmdt as Mmdt, mmdt as mmdt, mmdts as mmdts
from lookalike.fingerprints.fuzzy_nilsimsa import Nilsimsa as Nilsimsa, nilsimsa as nilsimsa, nilsimsas as nilsimsas
from lookalike.fingerprints.karp_rabin import KarpRabin as KarpRabin
from lookalike.fingerprints.minhash import (
    BBitMinHash as BBitMinHash,
    WeightedMinHash as WeightedMinHash,
    weighted_minhash as weighted_minhash,
    weighted_minhashes as weighted_minhashes,
)
from lookalike.fingerprints.record import FieldPrint as FieldPrint
from lookalike.fingerprints.winnowing import Winnowings as Winnowings

__all__: list[str]
