"""The benchmark on several hosts: evenkeel and every MPI library, alternating on virtual hosts.

`settings` says which libraries are measured in which settings, `plan` what is run. `runs`, `agents`,
`multicast` and `network_floor` run it on the hosts. `targets`, `tables` and `plots` turn rows into text and
figures. The programs are those of bench/src; results go to bench/results/nodes.
"""
