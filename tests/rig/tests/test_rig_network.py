"""The command lines of a rig's network are values: these tests need no rights and no programs."""

from evenkeel_rig.launching import login_environment, rsh_script
from evenkeel_rig.network import LinkShape, address, filter_rules, shape


def test_addresses_are_distinct():
    assert len({address(i) for i in range(250)}) == 250


def test_a_rate_needs_no_netem():
    remove, limit = shape("eth0", LinkShape(rate_mbit=100))
    assert remove[:3] == ["tc", "qdisc", "del"]
    assert limit[limit.index("rate") + 1] == "100mbit" and "root" in limit
    assert int(limit[limit.index("burst") + 1]) >= 100e6 / 8 / 250, (
        "the bucket empties between two ticks of the kernel's clock"
    )


def test_a_rate_limit_is_placed_behind_a_delay():
    _, netem, limit = shape("eth0", LinkShape(rate_mbit=10, delay_ms=2))
    assert netem[netem.index("delay") + 1] == "2ms"
    assert limit[limit.index("parent") + 1] == "1:"


def test_an_empty_shape_removes_the_queueing():
    assert shape("eth0", LinkShape()) == [["tc", "qdisc", "del", "dev", "eth0", "root"]]


def test_filter_rules_concern_only_the_cable():
    text = filter_rules(12.5, ["10.77.0.2"])
    assert "numgen random mod 10000 < 1250 drop" in text and "ip saddr { 10.77.0.2 } drop" in text
    assert all('iifname "eth0"' in line for line in text.splitlines() if line.endswith("drop"))
    assert "drop" not in filter_rules(), "without loss and partition nothing is dropped"


def test_a_login_has_only_user_and_home_of_its_caller():
    environment = login_environment({"HOME": "/home/a b", "USER": "ann", "LD_PRELOAD": "x.so"})
    assert "LD_PRELOAD" not in environment and environment["USER"] == "ann"
    assert "'HOME=/home/a b'" in rsh_script({"HOME": "/home/a b"})
