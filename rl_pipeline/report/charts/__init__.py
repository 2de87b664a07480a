"""Charts: one definition each, a Vega-Lite specification with its numbers inside.

The same definition gives the PNG beside the Markdown, the SVG in Dagster's metadata and the chart of a page.
`all_charts` lists those that have something to draw; it imports the analysis, which drawing does without.
"""
