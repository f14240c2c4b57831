"""Text for terminals that lack some characters."""

import io

from matchprob.io.characters import accept_all


def written(text, encoding):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    accept_all(stream)
    stream.write(text)
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_characters_replaced_in_ascii():
    """Marks of masks keep their width, letters are named, an exponent has one `^`."""
    assert written("●·\n··", "ascii") == "#.\n.."
    assert written("4 − 2 ≤ ρ·10⁻¹²", "ascii") == "4 - 2 <= rho.10^-12"
    assert written("Gröbner \u4e2d", "ascii") == "Grobner \\u4e2d"


def test_characters_of_the_encoding_stay():
    """In Latin-1 × and ö stay, in UTF-8 everything."""
    assert written("2×2 ö ●", "latin-1") == "2×2 ö #"
    assert written("●⊗", "utf-8") == "●⊗"
