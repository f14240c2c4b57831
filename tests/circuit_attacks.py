"""Circuit files made at random: harmless forms, which must be read, and damaged ones, refused.

A circuit of named units is written in a form that programs and people publish (separator, header,
encoding, comments, compression, …).  Then it is damaged in a way whose right answer is known: a
form is read with exactly its synapses, a damaged file is refused in one line.  Files with bytes
that are changed at random may not crash or hang the reader.

``python -m tests.circuit_attacks 5000`` prints the counts.
"""

import gzip
import io
import random
import sys
import tempfile
import time
from collections import Counter
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import networkx as nx

from algebra.problems.headers import meaning_of
from matchprob import InputError, LinearRNN, Problem, read_edges

# Names as they occur: words, words with blanks or letters beyond ASCII, small and large numbers.
ALPHABETS = {
    "words": lambda k: f"N{k:02d}",
    "letters": lambda k: f"ß{k}é",
    "small numbers": lambda k: str((3 * k + 1) % 10),
    "large numbers": lambda k: str(720575940600000000 + 7919 * k),
    "marked": lambda k: f"a-{k}.{k}(t1)_L",
}
HEADERS = [
    ("pre", "post", "weight"), ("Source", "Target", "Weight"), ("pre_id", "post_id", "syn_count"),
    ("bodyId_pre", "bodyId_post", "weight"), ("Presynaptic_ID", "Postsynaptic_ID", "Connectivity"),
    ("from_id", "to_id", "count"), ("pre_pt_root_id", "post_pt_root_id", "n_syn"),
    ("Origin", "Target", "Number of Connections"),
    ("presynaptic neuron", "postsynaptic neuron", "Nbr"),
]  # fmt: skip
MARKS = [",", ";", "\t", "|", " ", ", ", " ;", "  "]


class Circuit:
    """A random circuit, and the file in which it is written."""

    def __init__(self, rng):
        self.rng = rng
        self.kind = rng.choice(list(ALPHABETS))
        size = rng.randint(3, 8)
        self.units = [ALPHABETS[self.kind](k) for k in range(size)]
        pairs = [(a, b) for a in self.units for b in self.units]
        self.weights = {
            pair: rng.choice(["11", "30", "12", "2.5"])
            for pair in rng.sample(pairs, rng.randint(2, min(12, len(pairs))))
        }
        self.rows = [[a, b, w] for (a, b), w in self.weights.items()]
        self.header = list(rng.choice(HEADERS))
        self.mark = rng.choice(MARKS)
        self.encoding, self.above, self.packed, self.options = "utf-8", [], False, {}
        self.quoted = False
        self.newline = rng.choice(["\n", "\r\n", "\r"])

    # Forms: each is read.

    def more_columns(self):
        """Columns of other meanings, anywhere."""
        at = self.rng.randint(0, len(self.header))
        self.header.insert(at, "nt_prob")
        for k, row in enumerate(self.rows):
            row.insert(at, f"g{k}")

    def other_order(self):
        """The columns in another order."""
        order = self.rng.sample(range(len(self.header)), len(self.header))
        self.header = [self.header[k] for k in order]
        self.rows = [[row[k] for k in order] for row in self.rows]

    def comments(self):
        """Lines of comments above the header and among the lines."""
        self.above = ["# exported 2020", "", "#"]

    def header_as_comment(self):
        """The header is a comment."""
        self.header[0] = "# " + self.header[0]

    def decimal_commas(self):
        """Numbers with decimal commas, semicolons between cells."""
        self.mark = ";"
        self.rows = [[cell.replace("2.5", "2,5") for cell in row] for row in self.rows]

    def wide_encoding(self):
        """UTF-16, or UTF-8 with a byte order mark."""
        self.encoding = self.rng.choice(["utf-16", "utf-8-sig", "utf-32"])

    def quotes(self):
        """Each cell in quotation marks."""
        self.quoted = True

    def compressed(self):
        """Compressed by gzip."""
        self.packed = True

    def without_header(self):
        """No header, and columns named by the caller."""
        words = {"pre": "pre", "post": "post", "weight": "weight"}
        plain = [w.lstrip("# ") for w in self.header]
        self.options["columns"] = " ".join(words.get(meaning_of(word), "x") for word in plain)
        self.header = []

    def own_header(self):
        """A header of other words, which the caller gives."""
        renamed = {}
        for k, word in enumerate(self.header):
            if meaning := meaning_of(word.lstrip("# ")):
                self.header[k] = renamed[meaning] = f"col{k}"
        self.options["columns"] = renamed

    def halves(self):
        """Each synapse in two lines, which add up."""
        self.options["repeated"] = "sum"
        at = self._weight()
        for row in list(self.rows):
            self.rows.append([*row[:at], "0", *row[at + 1 :]])

    # Damages: each is refused.

    def _weight(self):
        return next(
            k for k, cell in enumerate(self.rows[0]) if cell in ("11", "30", "12", "2.5", "2,5")
        )

    def twice(self):
        """A line again."""
        self.rows.append(list(self.rng.choice(self.rows)))

    def short_line(self):
        """A line that ends early."""
        row = self.rng.choice(self.rows)
        del row[-1]

    def long_line(self):
        """A line with one more cell."""
        self.rng.choice(self.rows).append("7")

    def no_unit(self):
        """A line without a unit."""
        row = self.rng.choice(self.rows)
        row[next(k for k, cell in enumerate(row) if cell in self.units)] = '""'

    def no_number(self):
        """A weight that is no number."""
        self.rng.choice(self.rows)[self._weight()] = self.rng.choice(
            ["many", "nan", "inf", "1.2.3", "--"]
        )

    def unknown_unit(self):
        """A unit that is not among the names."""
        row = self.rng.choice(self.rows)
        row[next(k for k, cell in enumerate(row) if cell in self.units)] = "GHOST"

    def no_side(self):
        """A header without `post`."""
        for k, word in enumerate(self.header):
            if meaning_of(word.lstrip("# ")) == "post":
                self.header[k] = "partner"

    def two_sides(self):
        """Two columns that mean `pre`."""
        self.header.append("source_id")
        for row in self.rows:
            row.append(row[0])

    def latin(self):
        """Latin-1 with letters beyond ASCII."""
        self.encoding = "latin-1"
        self.above = ["# größe", *self.above]

    def no_byte_order(self):
        """UTF-16 without its mark."""
        self.encoding = "utf-16-le"

    def cut_archive(self):
        """A compressed file that ends early."""
        self.packed = "cut"

    def unpacked(self):
        """A compressed file under a plain name."""
        self.packed = "hidden"

    def bytes(self):
        """The contents of the file."""
        rows = [self.header, *self.rows] if self.header else self.rows
        if self.quoted:
            rows = [[cell if cell == '""' else f'"{cell}"' for cell in row] for row in rows]
            if self.header and self.header[0].startswith("#"):
                rows[0] = [f'"{cell}"' if k else cell for k, cell in enumerate(self.header)]
        elif self.mark.strip(",;|\t") == " " or not self.mark.strip():
            # Blanks between cells: words of the header with a blank are quoted.
            rows = [
                [f'"{cell}"' if " " in cell.lstrip("# ") else cell for cell in row] for row in rows
            ]
        lines = self.above + [self.mark.join(row) for row in rows]
        data = (self.newline.join(lines) + self.newline).encode(self.encoding, "replace")
        if not self.packed:
            return data
        data = gzip.compress(data)
        return data[: len(data) // 2] if self.packed == "cut" else data


FORMS = [
    Circuit.more_columns, Circuit.other_order, Circuit.comments, Circuit.header_as_comment,
    Circuit.decimal_commas, Circuit.wide_encoding, Circuit.quotes, Circuit.compressed,
    Circuit.without_header, Circuit.own_header, Circuit.halves,
]  # fmt: skip
# Those that cannot be together: a header that is not there, or is a comment.
_HEADS = {Circuit.header_as_comment, Circuit.without_header, Circuit.own_header}
DAMAGES = [
    Circuit.twice, Circuit.short_line, Circuit.long_line, Circuit.no_unit, Circuit.no_number,
    Circuit.unknown_unit, Circuit.no_side, Circuit.two_sides, Circuit.latin, Circuit.no_byte_order,
    Circuit.cut_archive, Circuit.unpacked,
]  # fmt: skip


def written_circuit(rng):
    """A circuit in a random form, and the names of the forms."""
    circuit = Circuit(rng)
    chosen = [form for form in FORMS if rng.random() < 0.25]
    heads = [form for form in chosen if form in _HEADS]
    chosen = [form for form in chosen if form not in _HEADS or form is heads[0]]
    for form in sorted(chosen, key=lambda form: form in _HEADS):
        form(circuit)
    return circuit, chosen


def answer(path, circuit):
    """What the reader says of a file: "read", or the message of its refusal."""
    names = {"neurons": circuit.units}
    problem = Problem(LinearRNN(n=len(circuit.units), T=2, b=1, d=1, m=1), {}, names=names)
    try:
        cells = read_edges(path, **circuit.options).cells(problem.names, "W")
    except InputError as error:
        return str(error) if "\n" not in str(error) else f"WRONG: two lines, {error}"
    found = {(circuit.units[j], circuit.units[i]): Fraction(w or 0) for (i, j), w in cells.items()}
    wanted = {pair: Fraction(w) for pair, w in circuit.weights.items()}
    return "read" if found == wanted else f"WRONG: {found} for {wanted}"


def attack(seed, folder):
    """A file made from a seed: the kind, whether the answer is right, and the answer."""
    rng = random.Random(f"circuit {seed}")
    circuit, forms = written_circuit(rng)
    kind = rng.choice(["form", "damage", "bytes"])
    if kind == "damage":
        damage = rng.choice(DAMAGES)
        if damage in (Circuit.no_side, Circuit.two_sides) and (
            not circuit.header or "columns" in circuit.options
        ):
            damage = Circuit.unknown_unit
        if damage is Circuit.twice and "repeated" in circuit.options:
            damage = Circuit.no_number
        if damage is Circuit.no_number and Circuit.without_header in forms:
            damage = Circuit.unknown_unit
        if damage is Circuit.short_line and len(circuit.rows) < 2:
            damage = Circuit.unknown_unit
        damage(circuit)
        what = damage.__name__
    else:
        what = "+".join(form.__name__ for form in forms) if kind == "form" else "bytes"
    data = circuit.bytes()
    if kind == "bytes":
        changed = bytearray(data)
        for _ in range(rng.randint(1, 2)):
            where = rng.randrange(len(changed))
            match rng.randrange(4):
                case 0:
                    changed[where] = rng.randrange(256)
                case 1:
                    del changed[where : where + rng.randint(1, 20)]
                    changed += b"x"
                case 2:
                    changed[where:where] = rng.randbytes(rng.randint(1, 8))
                case 3:
                    changed[where:where] = rng.choice(
                        [
                            b'"',
                            b"\0",
                            b",,,,",
                            b"\n\n#",
                            b"1e999999",
                            b"9" * 5000,
                            b"\xff\xfe",
                            b";",
                        ]
                    )
        data = bytes(changed)
    packed = circuit.packed and circuit.packed != "hidden"
    path = folder / f"c{rng.choice(['.csv', '.tsv', '.txt'])}{'.gz' if packed else ''}"
    path.write_bytes(data)
    start = time.process_time()
    said = answer(path, circuit)
    quick = time.process_time() - start < 2
    right = {
        "form": said == "read",
        "damage": said != "read" and not said.startswith("WRONG"),
        "bytes": True,
    }[kind]
    return kind, what, right and quick, said, path


def graph_attack(seed, folder):
    """A GraphML file with several attributes that could name its nodes; see `attack`."""
    rng = random.Random(f"graph {seed}")
    circuit = Circuit(rng)
    graph = nx.DiGraph()
    ids = [f"n{k}" for k in range(len(circuit.units))]
    shuffled = rng.sample(range(len(ids)), len(ids))
    for k, unit in enumerate(circuit.units):
        graph.add_node(ids[k], cell_name=unit, name=str(shuffled[k]), x=1.5 * k)
    for (a, b), w in circuit.weights.items():
        graph.add_edge(ids[circuit.units.index(a)], ids[circuit.units.index(b)], weight=float(w))
    text = io.BytesIO()
    nx.write_graphml(graph, text)
    data = bytearray(text.getvalue())
    kind = rng.choice(["form", "bytes"])
    if kind == "bytes":
        for _ in range(rng.randint(1, 5)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    path = folder / "g.graphml"
    path.write_bytes(data)
    said = answer(path, circuit)
    return kind, "graphml", kind == "bytes" or said == "read", said, path


def book_attack(seed, folder):
    """A workbook with an edge list, or a matrix below groups; see `attack`."""
    import openpyxl

    rng = random.Random(f"book {seed}")
    circuit = Circuit(rng)
    book = openpyxl.Workbook()
    sheet = book.active
    is_matrix = rng.random() < 0.5 and circuit.kind in ("words", "letters", "marked")
    if is_matrix:
        circuit.options["rows"] = "pre"
        sheet.append([None, None, None, "GROUP"])
        sheet.append([None, None, None, *circuit.units])
        for k, a in enumerate(circuit.units):
            row = [circuit.weights.get((a, b)) for b in circuit.units]
            sheet.append(
                ["GROUP" if not k else None, None, a, *(float(w) if w else None for w in row)]
            )
    else:
        circuit.header[0] = circuit.header[0].lstrip("# ")
        sheet.append(circuit.header)
        for a, b, w in circuit.rows:
            sheet.append([a, b, float(w)])
    path = folder / "b.xlsx"
    book.save(path)
    kind = rng.choice(["form", "bytes"])
    if kind == "bytes":
        data = bytearray(path.read_bytes())
        for _ in range(rng.randint(1, 5)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
    said = answer(path, circuit)
    return (
        kind,
        "xlsx matrix" if is_matrix else "xlsx",
        kind == "bytes" or said == "read",
        said,
        path,
    )


def run(count, folder):
    """The counts of answers by kind, and the attacks with a wrong one."""
    counts, wrong = Counter(), []
    for seed in range(count):
        made = attack
        if seed % 10 == 8:
            made = graph_attack
        elif seed % 10 == 9 and find_spec("openpyxl") is not None:
            made = book_attack
        kind, what, right, said, path = made(seed, folder)
        word = (
            "read" if said == "read" else "other edges" if said.startswith("WRONG") else "refused"
        )
        counts[kind, word] += 1
        if not right:
            wrong.append((made.__name__, seed, what, said, path.read_bytes()[:300]))
    return counts, wrong


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        tally, failures = run(int(sys.argv[1]), Path(place))
    for key, number in sorted(tally.items()):
        print(*key, number)
    print(len(failures), "wrong")
    for failure in failures[: int(sys.argv[2]) if len(sys.argv) > 2 else 10]:
        print(*failure, sep="\n    ")
