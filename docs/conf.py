"""The documentation site: `make docs` builds it into `site/`, as static files that open offline.

Pages are Markdown, the reference comes from the docstrings, and the gallery runs the programs in
`examples/`. Warnings are errors.
"""

import os
import warnings
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "agg")
warnings.filterwarnings("ignore", category=DeprecationWarning)

ROOT = Path(__file__).parents[1]
project = "choquet"
author = copyright = "The choquet developers"
release = version = (ROOT / "src/choquet/_version.py").read_text().split('"')[1]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["gallery/*.ipynb", "gallery/*.py", "gallery/*.zip", "images/make.py"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
myst_url_schemes = ["http", "https", "mailto"]

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
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib",),
    "within_subsection_order": "FileNameSortKey",
}

ROOMS = {
    "choquet": "What users import",
    "choquet.measures": "Measures",
    "choquet.integrals": "Integrals",
    "choquet.walks": "Walks and support",
    "choquet.operators": "Operators",
    "choquet.indices": "Indices",
    "choquet.clustering": "Clustering",
    "choquet.contexts": "Contexts",
    "choquet.decomposition": "Decomposition",
    "choquet.learning": "Learning",
    "choquet.certainty": "Certainty",
    "choquet.scales": "Scales",
    "choquet.estimators": "Estimators",
    "choquet.decide": "Deciding",
    "choquet.explanation": "Explanation",
    "choquet.plot": "Pictures",
    "choquet.report": "Reports",
    "choquet.storage": "Files",
    "choquet.datasets": "Data sets",
    "choquet.reproduce": "The paper's experiments",
    "choquet.errors": "Errors",
}


def write_reference() -> None:
    """A page for each room that lists what its door offers; each name gets a page of its own."""
    import importlib
    from types import ModuleType

    folder = ROOT / "docs/api"
    folder.mkdir(exist_ok=True)
    seen: set[int] = set()
    for name, title in ROOMS.items():
        room = importlib.import_module(name)
        things = {one: getattr(room, one) for one in room.__all__ if not one.startswith("__")}
        kept = [
            one
            for one, thing in things.items()
            if (callable(thing) and id(thing) not in seen)
            and not isinstance(thing, ModuleType)
            and hasattr(thing, "__name__")
        ]
        seen |= {id(things[one]) for one in kept}
        lines = [title, "=" * len(title), "", f".. currentmodule:: {name}", ""]
        if kept:
            lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
            lines += [f"   {one}" for one in kept]
        (folder / f"{name.removeprefix('choquet.')}.rst").write_text("\n".join(lines) + "\n")
    pages = "\n".join(name.removeprefix("choquet.") for name in ROOMS)
    text = f"# Reference\n\nEverything public, by room.\n\n```{{toctree}}\n{pages}\n```\n"
    (folder / "index.md").write_text(text)


# Now, because the summaries are generated from the pages that are there when the build starts.
write_reference()

html_theme = "pydata_sphinx_theme"
html_title = "choquet"
html_static_path = []
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
