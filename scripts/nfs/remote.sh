#!/bin/sh
# remote.sh HOST COMMAND...: has a shell on a host of the test run a command (also for Open MPI, in the place of ssh).
host=$1
shift
printf '%s\n' "$*" | socat -t 3600 - "TCP:$host:77"
