# share.pl FILE RANK RANKS LENGTH STRETCHES DIRECTORY: one of RANKS hosts that write a file together, every host each RANKS-th of
# its stretches of LENGTH bytes. All have it open before any writes, and until all have written; DIRECTORY shows who has.
use strict;
use warnings;

my ($file, $rank, $ranks, $length, $stretches, $directory) = @ARGV;

sub meet {
    my ($what) = @_;
    mkdir "$directory/$what.$rank" or die "$directory/$what.$rank: $!";
    for (my $waited = 0; grep({ !-e "$directory/$what.$_" } 0 .. $ranks - 1); $waited++) {
        die "nobody else at '$what'" if $waited > 600;
        select undef, undef, undef, 0.1;
    }
}

open my $out, '+<', $file or die "$file: $!";
meet('open');
for (my $stretch = $rank; $stretch < $stretches; $stretch += $ranks) {
    sysseek $out, $stretch * $length, 0 or die "$file: $!";
    (syswrite $out, chr(ord('a') + $rank) x $length) == $length or die "$file: $!";
}
meet('written');
close $out or die "$file: $!";
