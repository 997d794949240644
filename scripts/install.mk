# make install PREFIX=/usr/local DESTDIR= LINKS="blastp makeblastdb blastdbcmd"; make uninstall likewise.
# Nothing is built as long as there is a program: `make build` as yourself, then `sudo make install`.

PREFIX ?= /usr/local
# Names of BLAST+ by which the program can be called, too; by default all that are there. `LINKS=` makes none.
LINKS  ?= all
install uninstall test-install: export PREFIX := $(PREFIX)
install uninstall test-install: export DESTDIR := $(DESTDIR)
install uninstall test-install: export LINKS := $(LINKS)

.PHONY: install uninstall test-install

## install: program, links with BLAST+'s names, manual and completions, below PREFIX
install: $(TARGET)/release/fleetblast
	scripts/install.sh install $<

## uninstall: remove what install made
uninstall:
	scripts/install.sh uninstall

## test-install: install to a temporary directory, try what is there, and uninstall
test-install: $(TARGET)/release/fleetblast
	scripts/test-install.sh $<

$(TARGET)/release/fleetblast:
	$(MAKE) --no-print-directory build
