# lost.pl FILE RANKS LENGTH STRETCHES: how many bytes of what share.pl wrote are not in the file.
use strict;
use warnings;

my ($file, $ranks, $length, $stretches) = @ARGV;
open my $in, '<', $file or die "$file: $!";
my $lost = 0;
for my $stretch (0 .. $stretches - 1) {
    my $letter = chr(ord('a') + $stretch % $ranks);
    my $read = read($in, my $bytes, $length) // die "$file: $!";
    $lost += $length - ($bytes =~ s/$letter//g);
}
print "$lost\n";
