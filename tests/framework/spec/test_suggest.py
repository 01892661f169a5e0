from __future__ import annotations

from framework.spec.suggest import choices, did_you_mean


def test_a_near_word_is_offered_and_a_far_one_is_not():
    assert did_you_mean("aditive", ["dot_product", "additive"]) == "; did you mean 'additive'?"
    assert did_you_mean("zzz", ["dot_product", "additive"]) == ""


def test_all_choices_follow_the_near_one():
    assert choices("bse", ["base", "other"]) == "; did you mean 'base'? There are: base, other"
    assert choices("zzz", ["base", "other"]) == "; there are: base, other"
    assert choices("zzz", []) == "; there are: none"
