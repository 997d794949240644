"""Loci for Kaptive, which Debian's package does not bring: stretches of the longest sequence of some files with their open reading frames, a little
changed: GENBANK GENOME... Prints the file with that sequence."""
import sys
from Bio import SeqIO
from Bio.Seq import Seq
from Bio.SeqFeature import FeatureLocation, SeqFeature
from Bio.SeqRecord import SeqRecord

MOST, LEAST = 12_000, 300
out, *genomes = sys.argv[1:]
longest, file = max(((record, file) for file in genomes for record in SeqIO.parse(file, "fasta")), key=lambda found: len(found[0]))
LENGTH = min(MOST, len(longest) // 6)
loci = []
for number in range(1, 5):
    start = number * len(longest) // 6
    bases = list(str(longest.seq[start : start + LENGTH]))
    # One base in so many is another one.
    for at in range(0, len(bases), 23 * number):
        bases[at] = "ACGT"["CGTA".find(bases[at])]
    name = f"KL{number}"
    record = SeqRecord(Seq("".join(bases)), id=name, name=name, description=name)
    record.annotations = {"molecule_type": "DNA"}
    record.features = [SeqFeature(FeatureLocation(0, LENGTH, 1), "source", qualifiers={"note": [f"K locus: {name}", f"K type: K{number}"]})]
    for frame in range(3):
        begin = frame
        for at in range(frame, LENGTH - 2, 3):
            if "".join(bases[at : at + 3]) in ("TAA", "TAG", "TGA"):
                if at - begin >= LEAST:
                    place = FeatureLocation(begin, at + 3, 1)
                    record.features.append(SeqFeature(place, "CDS", qualifiers={"gene": [f"{name}_{begin}"], "product": ["a frame"]}))
                begin = at + 3
    loci.append(record)
SeqIO.write(loci, out, "genbank")
print(file)
