"""Prints proteins of some genes that Kleborate brings: DIRECTORY."""
import sys
from pathlib import Path
from Bio import SeqIO

MOST = 60
files = sorted(Path(sys.argv[1]).glob("*.fasta"))
genes = [gene for file in files for gene in SeqIO.parse(file, "fasta") if len(gene) % 3 == 0]
for number, gene in enumerate(genes[:: max(1, len(genes) // MOST)]):
    print(f">protein{number} {gene.id}\n{gene.seq.translate(table=11, to_stop=True)}")
