from lookalike.fingerprints.base import Fingerprint as Fingerprint, NoFingerprint as NoFingerprint
from lookalike.fingerprints.digest import Digest as Digest, digests as digests
from lookalike.fingerprints.every import Fingerprints as Fingerprints, parse_record as parse_record
from lookalike.fingerprints.fuzzy_mmdt import Mmdt as Mmdt, mmdt as mmdt, mmdts as mmdts
from lookalike.fingerprints.fuzzy_nilsimsa import Nilsimsa as Nilsimsa, nilsimsa as nilsimsa, nilsimsas as nilsimsas
from lookalike.fingerprints.fuzzy_ssdeep import Ssdeep as Ssdeep, ssdeeps as ssdeeps
from lookalike.fingerprints.fuzzy_tlsh import Tlsh as Tlsh, tlshs as tlshs
from lookalike.fingerprints.karp_rabin import KarpRabin as KarpRabin, karp_rabins as karp_rabins
from lookalike.fingerprints.minhash import (
    BBitMinHash as BBitMinHash,
    WeightedMinHash as WeightedMinHash,
    weighted_minhash as weighted_minhash,
    weighted_minhashes as weighted_minhashes,
)
from lookalike.fingerprints.record import FieldPrint as FieldPrint, RecordPrint as RecordPrint, records as records
from lookalike.fingerprints.winnowing import Winnowing as Winnowing, Winnowings as Winnowings, winnows as winnows

__all__: list[str]
