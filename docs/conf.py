"""Sphinx's settings; `make docs` builds the site into out/site, without a network."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "_ext")]

import matchprob  # noqa: E402

project = "matchprob"
author = "The matchprob authors"
copyright = "The matchprob authors, MIT licence"
version = release = matchprob.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "mathml",
    "symbols",
    "made_pages",
]
root_doc = "index"
exclude_patterns = ["_ext", "_build", "made/parts", "gallery/*.ipynb", "gallery/*.py"]
# Single backticks in docstrings name objects; a name that has no page stays a name.
default_role = "py:obj"
suppress_warnings = [
    "config.cache",  # functions in sphinx_gallery_conf
    "misc.highlighting_failure",  # transcripts are no language
]
nitpicky = False
smartquotes = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
# Of a transcript only the commands are copied, without their prompt.
copybutton_prompt_text = "$ "
copybutton_exclude = ".linenos, .gp"

nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_execution_show_tb = True

autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "made_pages.gallery_order",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 0,
    "write_computation_times": False,
    "plot_gallery": True,
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib",),
    "remove_config_comments": True,
    "copyfile_regex": r".*\.rst",
}

html_theme = "pydata_sphinx_theme"
html_title = "matchprob"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 8,
    "footer_start": ["copyright"],
    "footer_end": ["last-updated"],
    "secondary_sidebar_items": ["page-toc"],
    "navbar_end": ["theme-switcher"],
    "search_bar_text": "Search",
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {"index": [], "install": [], "changelog": []}
