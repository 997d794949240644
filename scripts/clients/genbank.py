"""Each sequence of FASTA files as a GenBank file without features: DIRECTORY GENOME..."""
import sys
from Bio import SeqIO

directory, *genomes = sys.argv[1:]
for genome in genomes:
    for record in SeqIO.parse(genome, "fasta"):
        record.annotations = {"molecule_type": "DNA"}
        # The format has no room for longer names.
        record.id = record.name = record.id[:16]
        SeqIO.write(record, f"{directory}/{record.id}.gbk", "genbank")
