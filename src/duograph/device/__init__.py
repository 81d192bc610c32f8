"""The machine underneath and its neighbours, under MindSpore's names: one CPU, one process.

Users import the modules from the top: `duograph.hal`, `duograph.communication`, `duograph.parallel`,
`duograph.profiler`.
"""
