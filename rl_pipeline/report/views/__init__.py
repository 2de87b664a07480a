"""View models: results as the text that a page prints, one module per part of the report.

A view decides words, formats and what is left out; it computes no statistic. Text from logs stays
as it was found, the template escapes it.
"""
