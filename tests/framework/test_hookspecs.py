from __future__ import annotations

import inspect

import pluggy
import pytest

from framework import contracts, hookspecs
from framework.contracts import Plugin
from framework.hookspecs import CONTRACTS, PROJECT
from framework.spec.component import KINDS

HOOKS = [name for name, member in vars(hookspecs).items() if hasattr(member, f"{PROJECT}_spec")]


def test_there_is_one_hook_per_kind_in_one_order():
    assert HOOKS == list(CONTRACTS) == list(KINDS)


@pytest.mark.parametrize("kind", CONTRACTS)
def test_a_hook_takes_nothing_and_says_what_it_offers(kind):
    hook = getattr(hookspecs, kind)
    assert not inspect.signature(hook).parameters
    assert str(inspect.getdoc(hook)).startswith("Offer ")
    with pytest.raises(NotImplementedError):
        hook()


@pytest.mark.parametrize("kind", CONTRACTS)
def test_a_hook_s_type_is_its_contract(kind):
    contract = CONTRACTS[kind]
    assert contract.__name__ == kind.title().replace("_", "")
    assert inspect.signature(getattr(hookspecs, kind)).return_annotation == f"OneOrMore[{contract.__name__}]"


@pytest.mark.parametrize("contract", CONTRACTS.values())
def test_a_contract_is_a_plugin_with_a_docstring_of_its_own(contract):
    assert issubclass(contract, Plugin)
    assert contract.__name__ in contracts.__all__
    assert contract.__dict__["__doc__"]


def test_pluggy_takes_the_specifications():
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    assert set(HOOKS) == {name for name in vars(manager.hook) if not name.startswith("_")}
