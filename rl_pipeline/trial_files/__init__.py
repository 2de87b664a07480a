"""Finding, opening and reading trial files, many at a time: here, or in processes of their own.

`reading` opens files and gives columns, `visiting` lists folders and reads what they hold, `survey` hands folders out,
`crew` are the processes, `worker` their program; `elsewhere` reads what lies in a bucket or on a server. What a process
imports is little (neither pandas nor pyarrow), because every one of them imports it anew.
"""
