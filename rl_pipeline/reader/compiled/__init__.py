"""Loops over the bytes of a window, compiled by Numba.

Everything here works on arrays alone and writes into arrays of its caller, none of which is longer than the window has
bytes. The first use on a machine compiles for some seconds; what was compiled is kept beside these files, or where
Numba keeps it when their folder cannot be written. Types of arguments are left to Numba, which makes one version for
each.
"""
