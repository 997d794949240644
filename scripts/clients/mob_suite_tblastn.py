"""The search of MOB-suite for relaxases, and what its reader makes of the table: PROTEINS GENOME DIRECTORY."""
import logging
import shutil
import sys
from mob_suite.blast import BlastReader, BlastRunner

proteins, genome, found = sys.argv[1:]
shutil.copy(genome, "genome.fasta")
runner = BlastRunner(fasta_path="genome.fasta", tmp_work_dir=".")
runner.makeblastdb(fasta_path="genome.fasta", dbtype="nucl", logging=logging)
table = f"{found}/tblastn.txt"
runner.run_tblastn(query_fasta_path=proteins, blast_task="megablast", db_path="genome.fasta", db_type="nucl", min_cov=70, min_ident=80,
                   evalue=1e-5, blast_outfile=table, logging=logging, num_threads=2)
BlastReader(table, logging).df.to_csv(f"{found}/read.csv")
