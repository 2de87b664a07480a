"""Opening and reading trial files, many at a time: here, or in processes of their own.

`reading` opens files and gives columns, `worker` is the program of a process that does so, `crew` the processes. What a
process imports is little (neither pandas nor pyarrow), because every one of them imports it anew.
"""
