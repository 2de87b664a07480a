"""Names of the files in a report's folder."""

from __future__ import annotations

HTML_REPORT, MARKDOWN_REPORT, JSON_REPORT = "report.html", "metrics_report.md", "report.json"
CHARTS, TABLES = "charts", "tables"
