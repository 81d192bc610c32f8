"""The page: what was compiled, as one HTML file that a browser opens from disk.

    f.explain().save("report.html")          # or: python -m duograph explain --html report.html program.py

`collect` makes plain data of compiled functions, `write` puts it into a page with its script, its style and dagre
(MIT licence, ``assets/dagre.LICENSE.txt``), which lays graphs out.
"""

from .collect import collected
from .write import page, write_page

__all__ = ["collected", "page", "write_page"]
