"""Tables of what is known of objects of others."""

import gc

from duograph.base.weak import WeakTable


def code(filename="<one>"):
    return compile("x + 1", filename, "eval")


def test_equal_keys_are_different_keys():
    table = WeakTable()
    one, other = code(), code("<other>")
    assert one == other
    table[one] = "one"
    assert (table.get(one), table.get(other)) == ("one", None)
    table[other] = "other"
    assert (table.get(one), table.get(other), len(table)) == ("one", "other", 2)


def test_what_is_known_goes_with_the_object():
    table = WeakTable()
    kept = [code() for _ in range(3)]
    for number, key in enumerate([*kept, code()]):
        table[key] = number
    del key
    assert len(table) == 3
    kept.clear()
    assert len(table) == 0


def test_an_address_that_is_used_again_finds_nothing():
    table, known, addresses = WeakTable(), 0, set()
    for _ in range(1000):
        key = code()
        known += table.get(key) is not None
        addresses.add(id(key))
        table[key] = True
        del key
    assert known == 0
    assert len(addresses) < 1000  # else this has shown nothing


def test_keys_in_cycles_go_too():
    class Link:
        pass

    table, link = WeakTable(), Link()
    link.self = link
    table[link] = 1
    del link
    gc.collect()
    assert len(table) == 0
