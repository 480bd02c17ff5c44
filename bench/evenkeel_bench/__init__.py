"""Side by side: evenkeel and every MPI library found here, measured in one interleaved run.

`bench/run.py` is the program; this package is its parts: `peers` (which libraries, with which settings), `programs` (the C
programs and how they are compiled), `plan` (what is run, how often, in which order), `launch` (one run, bounded in time),
`results` (what came out, round by round), `targets` (what was promised), `tables`, `plots`, `machine`. It may start
processes and write below `bench/results` and `build/`; it must never change a setting of the machine, and never leave out
a number because it is bad.
"""
