"""Searches by Biopython's command lines, and what its reader of XML makes of the reports: QUERY SUBJECT DIRECTORY."""
import sys
from Bio.Blast import NCBIXML
from Bio.Blast.Applications import NcbiblastnCommandline, NcbimakeblastdbCommandline, NcbitblastxCommandline

query, subject, found = sys.argv[1:]
NcbimakeblastdbCommandline(dbtype="nucl", input_file=subject, out="subject")()
searches = {task: (NcbiblastnCommandline, {"task": task, "evalue": 10}) for task in ("megablast", "dc-megablast", "blastn")}
searches["tblastx"] = (NcbitblastxCommandline, {"evalue": 1e-3, "seg": "no"})
for name, (command, options) in searches.items():
    report = f"{found}/{name}.xml"
    command(query=query, db="subject", outfmt=5, out=report, **options)()
    with open(report) as xml, open(f"{found}/{name}.txt", "w") as text:
        for record in NCBIXML.parse(xml):
            print(record.query, record.effective_search_space, len(record.alignments), file=text)
            for alignment in record.alignments:
                for hsp in alignment.hsps:
                    print(alignment.hit_def, hsp.expect, hsp.strand, hsp.sbjct_start, hsp.query, hsp.match, hsp.sbjct, file=text)
