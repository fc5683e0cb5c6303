"""The documentation site: `make docs` builds it into `site/`, as static files that open offline.

Pages are Markdown, tutorials are notebooks, the reference comes from the docstrings, and the
gallery runs the programs in `examples/`. Warnings are errors.
"""

import sys
import warnings
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import pages  # noqa: E402
import reference  # noqa: E402

warnings.filterwarnings("ignore", category=DeprecationWarning)

ROOT = HERE.parent
project = "choquet"
author = copyright = "The choquet developers"
release = version = (ROOT / "src/choquet/_version.py").read_text().split('"')[1]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
# The first is that of the pages which autosummary writes.
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}
# A tutorial is shown as the notebook that is made of its page, because that holds the results.
exclude_patterns = [
    "gallery/*.ipynb",
    "gallery/*.zip",
    "**/sg_execution_times.rst",
    *(f"tutorials/{page.name}" for page in pages.tutorials()),
]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
myst_url_schemes = ["http", "https", "mailto"]
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 600
nb_merge_streams = True

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib",),
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "choquet"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": False,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
    "navigation_depth": 2,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "api/generated/**": []}

# Now, because the summaries are generated from the pages that are there when the build starts.
reference.write(HERE / "api")


def skip_member(app: Sphinx, what: str, name: str, thing: object, skip: bool, options: object):
    """Methods that scikit-learn adds for the routing of metadata are its own matter."""
    return True if name.endswith("_request") or name == "get_metadata_routing" else None


def read_page(app: Sphinx, docname: str, content: list[str]) -> None:
    """Show files from outside this folder, and list the pages that no list names."""
    content[0] = pages.shown(docname, content[0])


def setup(app: Sphinx) -> None:
    """Connect the two hooks."""
    app.connect("autodoc-skip-member", skip_member)
    app.connect("source-read", read_page)
