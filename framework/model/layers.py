"""What layers are made of: projections, norms, and what stands around a sub-layer.

Shapes: B batch, L length, S source length, D d_model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final, Literal

from torch import Tensor, nn

from framework.contracts import FeedForward, Mixer, State
from framework.model.dropout import Dropout

NORM_EPSILON: Final = 1e-6
"""As in the authors' first code."""

NORMS: Final[Mapping[str, Callable[[int], nn.Module]]] = MappingProxyType(
    {
        "layer_norm": partial(nn.LayerNorm, eps=NORM_EPSILON),  # Ba et al. 2016, arXiv:1607.06450
        "rms_norm": partial(nn.RMSNorm, eps=NORM_EPSILON),  # Zhang and Sennrich 2019, arXiv:1910.07467
    }
)
"""Name → what builds a norm over d_model channels."""


class Linear(nn.Linear):
    """A linear projection that starts Xavier-uniform, times `gain`, with zero bias (Glorot and Bengio 2010, eq. 16)."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, gain: float = 1.0) -> None:
        self.gain = gain  # first, because torch starts the weights as it builds them
        super().__init__(in_features, out_features, bias)

    def reset_parameters(self) -> None:
        nn.init.xavier_uniform_(self.weight, self.gain)
        if self.bias is not None:
            nn.init.zeros_(self.bias)


class SubLayer(nn.Module):
    """What stands around a transformation f: norm, dropout and residual.

    `post_norm`: Norm(x + Dropout(f(x))) (Vaswani et al. 2017, arXiv:1706.03762, section 5.4);
    `pre_norm`: x + Dropout(f(Norm(x))) (Xiong et al. 2020, arXiv:2002.04745); `none`: x + Dropout(f(x)).
    Without the residual, `x +` is left out.
    """

    def __init__(
        self,
        d_model: int,
        dropout: float,
        norm: str,
        norm_order: Literal["post_norm", "pre_norm", "none"],
        residual: bool,
    ) -> None:
        super().__init__()
        self.norm_before = NORMS[norm](d_model) if norm_order == "pre_norm" else nn.Identity()
        self.norm_after = NORMS[norm](d_model) if norm_order == "post_norm" else nn.Identity()
        self.dropout = Dropout(dropout)
        self.residual = residual

    def enter(self, x: Tensor) -> Tensor:
        """Give what f reads: `(B, L, D)` to `(B, L, D)`."""
        return self.norm_before(x)

    def leave(self, x: Tensor, y: Tensor) -> Tensor:
        """Join the sub-layer's input `x (B, L, D)` and f's output `y (B, L, D)`."""
        y = self.dropout(y)
        return self.norm_after(x + y if self.residual else y)


class MixingSubLayer(nn.Module):
    """A mixer and what stands around it."""

    def __init__(self, mixer: Mixer, around: SubLayer) -> None:
        super().__init__()
        self.mixer = mixer
        self.around = around

    def forward(
        self,
        x: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor | None = None,
        memory_padding: Tensor | None = None,
        state: State | None = None,
    ) -> tuple[Tensor, State | None]:
        """As `Mixer.forward`."""
        y, state = self.mixer(self.around.enter(x), positions, padding, memory, memory_padding, state)
        return self.around.leave(x, y), state


class FeedForwardSubLayer(nn.Module):
    """A feed-forward and what stands around it."""

    def __init__(self, feed_forward: FeedForward, around: SubLayer) -> None:
        super().__init__()
        self.feed_forward = feed_forward
        self.around = around

    def forward(self, x: Tensor) -> Tensor:
        """Transform `x (B, L, D)` to `(B, L, D)`."""
        return self.around.leave(x, self.feed_forward(self.around.enter(x)))
