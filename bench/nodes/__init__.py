"""The benchmark on several hosts: evenkeel and every MPI library that is installed, by turns, on virtual hosts of this machine (tests/rig/).

`settings` says which libraries in which settings, `plan` what is run, `rigged` runs it on the hosts, `tables` and `plots` say what came out. Programs are those
of bench/src, results go to bench/results/nodes.
"""
