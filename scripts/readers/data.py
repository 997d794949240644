"""Writes FASTA files and the taxonomy of scripts/readers.sh: PROTEINS.gz LAMBDA.gz READS.gz DIR.

Subjects are real proteins and parts of the phage lambda, queries are parts of them with deletions.
"""
import gzip
import struct
import sys

from Bio.Seq import Seq

proteins, phage, reads, directory = sys.argv[1:]
MARKUP = """<b> & "c" 5' &amp; end"""
BEYOND_ASCII = "Größe"
TAXA = {10710: ["Escherichia phage Lambda", "<b> & \"c\"", "viruses", "Viruses"],
        562: ["Escherichia coli", "E. coli", "enterobacteria", "Bacteria"]}


def fasta(name, records):
    with open(f"{directory}/{name}", "w", encoding="utf-8") as file:
        for title, letters in records:
            print(f">{title}\n{letters}", file=file)


def first_proteins(count):
    with gzip.open(proteins, "rt") as file:
        lines = [next(file).rstrip() for _ in range(2 * count)]
    return [(title[1:], letters) for title, letters in zip(lines[::2], lines[1::2])]


def open_frames(dna, least):
    """Yields the proteins of all six frames from M to a stop, from the longest on."""
    found = []
    for strand in (Seq(dna), Seq(dna).reverse_complement()):
        for frame in range(3):
            codons = strand[frame:len(strand) - (len(strand) - frame) % 3]
            for part in str(codons.translate()).split("*"):
                found.append(part[part.find("M"):] if "M" in part else "")
    return sorted((protein for protein in found if len(protein) >= least), key=len, reverse=True)


def without_middle(letters, count):
    middle = len(letters) // 2
    return letters[:middle] + letters[middle + count:]


with gzip.open(phage, "rt") as file:
    dna = "".join(line.strip() for line in file if not line.startswith(">"))
with gzip.open(reads, "rt") as file:
    read = [next(file).strip() for _ in range(2)][1]
orfs = open_frames(dna, 150)
uniprot = first_proteins(1500)

subjects = [(f"orf{number} frame of {MARKUP}", orf) for number, orf in enumerate(orfs)]
fasta("prot.fa", uniprot + subjects)
starts = range(0, len(dna), 3500)
fasta("nucl.fa", [(f"part{start} of {MARKUP}", dna[start:start + 4000]) for start in starts])
with open(f"{directory}/taxids", "w") as file:
    for title, _ in uniprot + subjects:
        print(title.split()[0], 10710 if title.startswith("orf") else 562, file=file)
    for start in starts:
        print(f"part{start}", 10710, file=file)

protein_queries = [without_middle(orfs[0][:300], 6), orfs[4], "WCHWMPWYCH",
                   uniprot[0][1][:200] + orfs[8][:200]]
dna_queries = [without_middle(dna[1000:2200], 9), str(Seq(dna[20000:20600]).reverse_complement()),
               "ATCGTTAGCCATGCAAGTCTTAGC", read]
for kind, letters in (("prot", protein_queries), ("nucl", dna_queries)):
    first, second, nothing, last = letters
    for mode, title in (("plain", MARKUP), ("latin", BEYOND_ASCII)):
        queries = [(f"first {title}", first), ("", second), ("nothing", nothing), ("last", last)]
        fasta(f"{kind}.{mode}", queries)
    # Without "nothing": Biopython does not read the message of a query without hits in XML2.
    queries = [(f"gnl|own|first {MARKUP}", first), ("lcl|second", second), ("last", last)]
    fasta(f"{kind}.parsed", queries)
    # Biopython reads XML2 of several queries in part.
    fasta(f"{kind}.single", [(f"first {MARKUP}", first)])

with open(f"{directory}/taxdb.bti", "wb") as index, open(f"{directory}/taxdb.btd", "wb") as names:
    index.write(struct.pack(">6I", 0x8739, len(TAXA), 0, 0, 0, 0))
    for taxid, words in sorted(TAXA.items()):
        index.write(struct.pack(">2I", taxid, names.tell()))
        names.write("\t".join(words).encode())
