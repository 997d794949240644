#!/bin/bash
# Checks three rules of the house:
# * every section of docs/rules/blastp.md that a comment in the code cites ("rules 5.7") is there;
# * only the engine, the words of the report and the plans ask which kind of search runs (`Params`);
# * only `stats::program`, the options and the plans write names of programs: other code asks for a
#   property of a `BlastProgram`, or matches on it, so that a new program meets no default.
set -euo pipefail
cd "$(dirname "$0")/.."

there=$(grep -oE '^#{2,3} [0-9]+(\.[0-9]+)?' docs/rules/blastp.md | sed -E 's/^#+ //')
cited=$(grep -rhoE 'rules [0-9]+(\.[0-9]+)*((, | and |–)[0-9]+(\.[0-9]+)*)*' crates --include='*.rs' |
    grep -oE '[0-9]+(\.[0-9]+)*' | sort -uV)
[ -n "$cited" ] || { echo "check-rules: no comment cites a rule: is the pattern still right?" >&2; exit 1; }
missing=()
for number in $cited; do
    # 5.7.1 is the first point of section 5.7.
    section=$(cut -d. -f1,2 <<<"$number")
    grep -qxF "$section" <<<"$there" || missing+=("$number")
done
if [ ${#missing[@]} -gt 0 ]; then
    echo "check-rules: cited in the code, but not in docs/rules/blastp.md: ${missing[*]}" >&2
    exit 1
fi

asking=$(grep -rlE 'Params::(Protein|Nucleotide)\(' crates --include='*.rs' |
    grep -vE '^crates/(engine/|cli/src/plan/|report/src/(program|letters|papers)\.rs$)' |
    grep -vE '/tests/|/tests\.rs$|/testing\.rs$|^crates/job/src/plan/' || true)
if [ -n "$asking" ]; then
    echo "check-rules: these files ask which kind of search runs (docs/adding-a-program.md):" $asking >&2
    exit 1
fi

# Lines of code, without comments and without a module of tests at the end of a file.
name='"(blast[npx]|tblast[nx]|psiblast|deltablast|rpsblast|rpstblastn|psitblastn|phiblastp)"'
naming=$(find crates -name '*.rs' | sort |
    grep -vE '^crates/(stats/src/program\.rs$|cli/src/(options|plan)/|difftest/|oracle/)' |
    grep -vE '/(tests|examples|benches)/|/tests\.rs$|/testing\.rs$' |
    NAME=$name xargs awk '
        FNR == 1 { is_test = 0; in_tests = 0 }
        /^mod .* \{$/ && is_test { in_tests = 1 }
        !/^(#|\/\/)/ { is_test = 0 }
        /^#\[cfg\(test\)\]$/ { is_test = 1 }
        !in_tests && !/^ *\/\// && $0 ~ ENVIRON["NAME"] { print FILENAME ":" FNR }')
if [ -n "$naming" ]; then
    echo "check-rules: names of programs; ask for a property in crates/stats/src/program.rs:" $naming >&2
    exit 1
fi
