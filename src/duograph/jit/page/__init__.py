"""What was compiled, looked at closely: kernels as objects, and all of it as one HTML file that a browser opens.

    f.explain().save("report.html")          # or: python -m duograph explain --html report.html program.py

`collect` makes plain data of compiled functions, `write` puts it into a page with its script, its style and dagre
(MIT licence, ``assets/dagre.LICENSE.txt``), which lays graphs out.
"""

from .collect import collected
from .kernels import Kernel, kernels_of
from .write import page, write_page

__all__ = ["Kernel", "collected", "kernels_of", "page", "write_page"]
