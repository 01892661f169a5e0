from __future__ import annotations

import pytest
import torch
from pydantic import ValidationError

from plugins.attention_scores.dot_product import DotProduct
from tests.plugins.sizes import DIMS


@pytest.mark.parametrize(("scale", "factor"), [(True, 0.5), (False, 1.0), (1.0, 1.0), (0.3, 0.3)])
def test_products_are_scaled_as_asked(scale, factor):
    query, key = torch.randn(2, 2, 3, 4), torch.randn(2, 2, 5, 4)
    scores = DotProduct(DotProduct.Options(scale=scale), DIMS)(query, key)
    torch.testing.assert_close(scores, factor * torch.einsum("bhqd,bhkd->bhqk", query, key))


def test_the_paper_s_scale_is_the_default():
    assert DotProduct.Options().scale is True


@pytest.mark.parametrize(("written", "value"), [("true", True), ("1", 1.0), ("false", False)])
def test_a_switch_and_a_number_stay_apart(written, value):
    scale = DotProduct.Options.model_validate_json(f'{{"scale": {written}}}').scale
    assert scale == value
    assert type(scale) is type(value)


@pytest.mark.parametrize("scale", ["0", "-1", '"0.5"', "null"])
def test_a_scale_that_is_no_scale_is_refused(scale):
    with pytest.raises(ValidationError, match="scale"):
        DotProduct.Options.model_validate_json(f'{{"scale": {scale}}}')
