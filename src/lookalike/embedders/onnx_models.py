"""ONNX models: ``*.onnx`` and ``tokenizer.json``, computed by onnxruntime, without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lookalike.embedders.pooling import array_pooling
from lookalike.embedders.threads import checked_threads
from lookalike.embedders.token_models import BATCH, Compute, TokenEmbedder
from lookalike.embedders.tokenizing import tokenizer_of_file
from lookalike.errors import InputError, MissingExtra

INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
GPU_PROVIDERS = ("CUDAExecutionProvider", "ROCMExecutionProvider")


def onnx_embedder(
    name: str,
    version: str,
    model: Path,
    tokenizer: Path,
    *,
    window: int,
    pooling: str,
    threads: int | None = None,
    device: str | None = None,
) -> TokenEmbedder:
    """``threads`` compute a batch each; the vectors do not depend on it. ``device``: "cpu" or "cuda", by default what is there."""
    session = _session(model, name, device)
    compute = _compute(session, pooling, name)
    return TokenEmbedder(
        name,
        version,
        tokenizer_of_file(tokenizer, f"embedder {name!r}"),
        [compute] * checked_threads(threads),
        window=window,
        batch=BATCH,
    )


def _session(model: Path, name: str, device: str | None) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtra.for_extra(f"embedder {name!r}", "models") from error
    if device not in (None, "cpu", "cuda"):
        raise InputError(f"device={device!r}: choose 'cpu' or 'cuda' for an ONNX model")
    there = [] if device == "cpu" else [one for one in GPU_PROVIDERS if one in onnxruntime.get_available_providers()]
    if device == "cuda" and not there:
        raise InputError("device='cuda': the installed onnxruntime computes on the CPU only; install onnxruntime-gpu")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=[*there, "CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common class
        raise InputError(f"embedder {name!r}: {model.name} could not be loaded: {error}") from error


def _compute(session: Any, pooling: str, name: str) -> Compute:
    wanted = [given.name for given in session.get_inputs()]
    unknown = sorted(set(wanted) - set(INPUTS))
    if unknown or "input_ids" not in wanted:
        raise InputError(f"embedder {name!r}: the ONNX model asks for {', '.join(wanted)}; expected some of {', '.join(INPUTS)}")
    outputs = {found.name: len(found.shape) for found in session.get_outputs()}
    output = next((one for one in ("sentence_embedding", "last_hidden_state", *outputs) if outputs.get(one) in (2, 3)), None)
    if output is None:
        raise InputError(f"embedder {name!r}: none of the outputs {', '.join(outputs)} of the ONNX model is one vector per text or token")
    pool = array_pooling(pooling)

    def compute(numbers: Any, mask: Any) -> Any:
        given = {
            "input_ids": numbers,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(numbers),
            "position_ids": np.broadcast_to(np.arange(numbers.shape[1], dtype=np.int64), numbers.shape).copy(),
        }
        try:
            found = session.run([output], {one: given[one] for one in wanted})[0]
        except Exception as error:
            raise InputError(f"embedder {name!r}: the ONNX model failed on {numbers.shape[1]} tokens: {error}") from error
        return found if found.ndim == 2 else pool(found, mask)

    return compute
