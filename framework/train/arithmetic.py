"""In what numbers training computes: float32 with or without TF32 products, autocast, and a loss scaled for float16."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, Literal

import torch
from torch import Tensor
from torch.nn.utils import get_total_norm

Precision = Literal["float32", "tf32", "bfloat16", "float16"]


@contextmanager
def float32_products(tf32: bool = False) -> Iterator[None]:
    """Let what multiplies float32 numbers inside round its factors to TF32, or not, whatever the process does outside.

    Products of matrices, and cuDNN's convolutions and recurrences, which round unless they are told not to.
    """
    cudnn: Any = torch.backends.cudnn  # whose stubs lack what is set here
    cudnn_kernels = (cudnn.conv, cudnn.rnn)
    products, kernels = torch.get_float32_matmul_precision(), [kernel.fp32_precision for kernel in cudnn_kernels]
    torch.set_float32_matmul_precision("high" if tf32 else "highest")
    for kernel in cudnn_kernels:
        kernel.fp32_precision = "tf32" if tf32 else "ieee"
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(products)
        for kernel, precision in zip(cudnn_kernels, kernels, strict=True):
            kernel.fp32_precision = precision


_AUTOCAST: Final = {"bfloat16": torch.bfloat16, "float16": torch.float16}


class Arithmetic:
    """How one training computes on one device.

    In float16, gradients below 6e-8 would vanish, so the loss is multiplied before it is differentiated, and by what
    is found by trying: 2^16 at first, half of it after each overflow, twice as much after 2000 updates without one
    (Micikevicius et al. 2018, arXiv:1710.03740, section 3.2). In any other precision nothing is scaled.
    """

    def __init__(self, precision: Precision, device: torch.device) -> None:
        self._precision = precision
        self._device = device
        self._scaler = torch.amp.GradScaler(device.type, enabled=precision == "float16")

    @property
    def overflows(self) -> bool:
        """Whether gradients that are not finite may mean a scale too large, rather than a model that diverged."""
        return self._scaler.is_enabled()

    def products(self) -> AbstractContextManager[None]:
        """Multiply float32 numbers as asked inside, forward and backward."""
        return float32_products(tf32=self._precision == "tf32")

    def autocast(self) -> AbstractContextManager[Any]:
        """Compute the forward pass inside in half precision where that is asked and safe."""
        dtype = _AUTOCAST.get(self._precision)
        return torch.autocast(self._device.type, dtype, enabled=dtype is not None)

    def backward(self, loss: Tensor) -> None:
        """Add the gradients of a loss to those that the weights hold, both scaled."""
        scaled: Tensor = self._scaler.scale(loss)
        scaled.backward()

    def gradient_norm(self, optimizer: torch.optim.Optimizer) -> Tensor:
        """Take the scale out of the gradients and give their global norm, a scalar."""
        self._scaler.unscale_(optimizer)
        held = [weight.grad for group in optimizer.param_groups for weight in group["params"]]
        return get_total_norm([gradient for gradient in held if gradient is not None])

    def step(self, optimizer: torch.optim.Optimizer) -> None:
        """Let the optimizer move the weights by the gradients of which `gradient_norm` was asked."""
        self._scaler.step(optimizer)
        self._scaler.update()

    def skip(self) -> None:
        """Leave the weights alone and scale the next loss by half.

        Said outright: of gradients that are finite one by one, and only too large together, the scaler knows nothing.
        """
        self._scaler.update(self._scaler.get_scale() / 2)

    def state(self) -> dict[str, int | float]:
        """Give what the next update needs to know of those before it, as JSON values."""
        return dict(self._scaler.state_dict())

    def restore(self, state: Mapping[str, int | float]) -> None:
        """Go on from a `state` of the same precision."""
        if self._scaler.is_enabled():
            self._scaler.load_state_dict(dict(state))
