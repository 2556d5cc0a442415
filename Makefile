# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Entry points for developers. `make help` lists them; scripts/ and CMakePresets.json do the work.
.DEFAULT_GOAL := help
.PHONY: help build demo check test test-deep test-all format tidy pictures tables clean install package wheel

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
export JOBS PACKAGES

help:
	@scripts/help.sh

build:
	@scripts/build-huddle.sh
	@echo "built: build/release/bin/huddle"

demo:
	@scripts/demo.sh

check:
	@scripts/check.sh "$(MODULE)" $(LABEL)

test:
	@scripts/test.sh

test-deep:
	@scripts/test.sh deep

test-all:
	@scripts/test-all.sh $(PART)

format:
	@scripts/install-packages.sh test
	@scripts/check-format.sh --fix

tidy:
	@scripts/install-packages.sh build test test-deep
	@scripts/tidy.sh

pictures: build
	@scripts/pictures.sh

tables: build
	@scripts/tables.py build/release/bin/huddle README.md $$(grep -l '^<!-- made by:' docs/*.md)

install: build
	@cmake --install build/release --prefix "$(PREFIX)"

package:
	@packaging/debian.sh

wheel:
	@packaging/wheel.sh

# --one-file-system is a precaution: nothing should be mounted below build/, because tests/lab mounts only in
# its own mount namespace.
clean:
	@rm -rf --one-file-system build
