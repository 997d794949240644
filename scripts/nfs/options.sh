#!/bin/sh
# The options of the searches in format $1: reports of megabytes that take seconds.
case $1 in
0) echo "-outfmt 0 -comp_based_stats 0" ;;
6) echo "-outfmt 6 -comp_based_stats 0 -evalue 100" ;;
esac
