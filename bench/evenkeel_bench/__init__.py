"""The parts of the benchmarks. `bench/run.py` measures on one host, `bench/nodes/run.py` on several.

What is measured: `libraries` (which MPI libraries, in which settings), `programs` (the C programs), `plan`
and `deferral` (what is run, how often, in which order). Measuring: `launch` (one run of one program),
`disturbance` (how a run is disturbed), `run_reports` (evenkeel's own report of a run), `machine`
(what the numbers were measured on). What comes out: `results` (rows), `statistics`, `judgement`, `targets`
and `deferral_targets` (targets and whether they are met), `tables`, `deferral_tables` and
`markdown`, `plots` and `figures`.

Studies beside them have folders of their own. They take from here `study` (options, rounds, results.json and
results.md), `settings` (a library as it is, at its best, and under `evenkeel run`) and `checkout` (where
things are); `kept_results` keeps simulations.

Modules that say "Pure" in their first line take values and return values.

May: start processes, and write below bench/results and build/. Must never: change a setting of the machine,
or leave out a number because it is bad.
"""
