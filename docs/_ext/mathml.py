"""Formulas as MathML, which browsers draw themselves: no script, and nothing from elsewhere.

MathML takes the places of indices and exponents from a font with a MATH table, which few systems
have; STIX Two Math (SIL Open Font Licence) comes from ziamath and goes along with the site.
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import ziamath
from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def _written(tex: str, display: str) -> str:
    # Sphinx joins lines of a displayed formula; alignment needs an environment.
    if "\\\\" in tex and "\\begin" not in tex:
        tex = f"\\begin{{aligned}}{tex}\\end{{aligned}}"
    return convert(tex, display=display).replace(
        "<math ", f'<math alttext="{html.escape(tex, quote=True)}" ', 1
    )


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_written(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(_written(node.astext(), "block"))
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Enter the renderer and choose it."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    font = Path(ziamath.__file__).parent / "fonts" / "STIXTwoMath-Regular.ttf"
    app.config.html_static_path.append(str(font))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
