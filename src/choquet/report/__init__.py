"""One offline page about a model, the same as JSON and Markdown, and small pieces for notebooks.

summarise → plain data → template: nothing is computed while a page is written.
"""

from choquet.report.notebook import decomposition_html, measure_html
from choquet.report.page import Report
from choquet.report.summary import summarise

__all__ = ["Report", "decomposition_html", "measure_html", "summarise"]
