"""The parts of the demonstration that compute something."""

import demo


def test_summary_is_read_from_the_last_run():
    text = (
        "Begin of Summary section.\nSuccess=0\nEnd of Summary section.\n"
        "noise=7\nBegin of Summary section.\nSuccess=1\nHPL_time=0.5\nEnd of Summary section.\n"
    )
    assert demo.parse_summary(text) == {"Success": "1", "HPL_time": "0.5"}
    assert demo.parse_summary("it died before that") == {}


def test_grids_are_whole_and_nearly_square():
    assert demo.grid(16) == (4, 4)
    assert demo.grid(6) == (2, 3)
    assert demo.grid(7) == (1, 7)
    assert demo.grid(1) == (1, 1)


def test_a_slower_run_is_called_worse():
    time_row = demo.Row("t", "time", False)
    rate_row = demo.Row("r", "rate", True)
    assert demo.verdict(time_row, 2.0, 1.0) == "2.00 x better"
    assert demo.verdict(time_row, 1.0, 2.0) == "2.00 x worse"
    assert demo.verdict(rate_row, 1.0, 2.0) == "2.00 x better"
    assert demo.verdict(rate_row, 2.0, 1.0) == "2.00 x worse"
    assert demo.verdict(rate_row, 1.0, 1.02).startswith("same")


def test_wrong_results_are_reported():
    assert demo.answers_agree([{"Success": "1"}, {"Success": "1"}])[0]
    ok, sentence = demo.answers_agree([{"Success": "1"}, {"Success": "0"}])
    assert not ok and "run 2 of 2" in sentence
    assert not demo.answers_agree([{}])[0]


def test_table_has_both_columns_and_skips_what_was_not_measured():
    text = demo.table([{"wall_s": "4"}, {"wall_s": "4"}], [{"wall_s": "2"}, {"wall_s": "2"}])
    assert text.splitlines()[1].split()[-2:] == ["x", "better"]
    assert "PTRANS" not in text
