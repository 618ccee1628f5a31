"""How the site is built: see docs/make_site.py, which gathers its pages and calls Sphinx."""

from pathlib import Path

import allsplits

ROOT = Path(__file__).parents[1]

project = "allsplits"
author = "the allsplits developers"
copyright = "the allsplits developers, BSD-3-Clause"
version = release = allsplits.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = [str(ROOT / "docs" / "_templates")]
exclude_patterns = ["gallery/**/*.md5", "_templates/**"]
# Demonstrations are taken as they are there, none at all included.
suppress_warnings = ["toc.empty_glob"]

# Pages: formulas are written with their own letters, so that no library of mathematics is needed.
highlight_language = "text"
default_role = "code"
myst_heading_anchors = 4
myst_links_external_new_tab = False

# The reference.
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# The gallery: every file runs when the site is built, and is there as a notebook, too.
sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "reference_url": {},
    "plot_gallery": True,
    "matplotlib_animations": False,
    "ignore_repr_types": r"matplotlib\.",
}

# The site: a folder that needs no network.
html_theme = "pydata_sphinx_theme"
html_title = "allsplits"
html_static_path = [str(ROOT / "docs" / "_static")]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
# Summaries are fetched, which browsers forbid where pages are files.
html_show_search_summary = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc", "sg_download_links"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "changelog": [], "faq": []}
