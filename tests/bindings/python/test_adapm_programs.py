# SPDX-License-Identifier: BSD-3-Clause
"""What AdaPM's C++ test programs check, on syncyte.compat.adapm. test_adapm_itself.py runs the programs on AdaPM."""

import pytest

import adapm_programs as programs

each_technique = pytest.mark.parametrize("techniques", programs.TECHNIQUES)


@pytest.fixture
def place(comm):
    return programs.our_place()


@each_technique
def test_sums_are_exact_while_keys_move(place, techniques):
    assert programs.dynamic_allocation(place, techniques) == []


@each_technique
def test_keys_are_where_intents_want_them(place, techniques):
    assert programs.locality(place, techniques) == []


@each_technique
def test_many_keys_of_several_lengths_in_each_call(place, techniques):
    assert programs.many_keys(place, techniques) == []


@each_technique
@pytest.mark.parametrize("options", programs.SAMPLINGS, ids="-".join)
def test_samples_while_keys_move(place, techniques, options):
    assert programs.sampling(place, techniques, *options) == []
