# Two commands do all set-up: `make demo` shows an explained map, `make test` passes the tests.
PYTHON ?= python3
VENV ?= .venv
CPP := $(wildcard cpp/*/*.cpp cpp/*/*.hpp cpp/include/gnomon/*.hpp)
CLANG_TIDY ?= clang-tidy
# Of the dependencies in pyproject.toml: the lower bounds themselves, or whatever is newest, releases to come included.
VERSIONS_oldest := --resolution lowest-direct
VERSIONS_newest := --prerelease allow --upgrade
# WHEEL=dist/gnomon-....whl: the demo and the tests of that wheel, each in an empty environment below build/.
ifdef WHEEL
override VENV := build/wheel
.PHONY: $(VENV)/bin/python
endif
BIN := $(VENV)/bin
# In place after `make dev`: edits of Python files then take effect at once.
INSTALL = $(BIN)/python -m pip install --quiet $(if $(wildcard $(VENV)/in-place),--editable)

.PHONY: demo dev test wheel test-oldest test-newest test-kernels coverage coverage-cpp mutation test-sanitizers test-slow lint types test-types lint-js lint-cpp format lists pictures docs clean

$(BIN)/python:
	$(PYTHON) -m venv $(if $(WHEEL),--clear) $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

dev: $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[test,lint]"
	touch $(VENV)/in-place
	cp $(VENV)/lib/python*/site-packages/gnomon/_core.pyi src/gnomon/ # where type checkers look for it
	$(BIN)/pre-commit install

demo: $(BIN)/python
	$(INSTALL) "$(or $(WHEEL),.)[plot]"
	$(BIN)/gnomon map digits -o digits.html --png digits.png

test: $(BIN)/python
	$(INSTALL) "$(or $(WHEEL),.)[test]"
	$(BIN)/python -m pytest -n auto --dist worksteal $(TESTS)
	$(if $(WHEEL),,$(MAKE) test-kernels)

# In an environment of their own below build/, without the compiled tests; the oldest ones need PYTHON=python3.11.
build/%/installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python build/$*
	$(BIN)/uv pip install --quiet --python build/$* $(VERSIONS_$*) --requirements pyproject.toml --extra test
	touch $@

test-oldest test-newest: test-%: build/%/installed
	$(BIN)/uv pip install --quiet --python build/$* --no-deps .
	build/$*/bin/python -m pytest -n auto --dist worksteal $(TESTS)

# A wheel for this machine as small as released ones, in dist; `make test WHEEL=dist/gnomon-....whl` tries it.
wheel: $(BIN)/python
	rm -rf build/wheels
	$(BIN)/python -m pip wheel --quiet --no-deps -w build/wheels .
	$(BIN)/python -m pip install --quiet zopflipy
	$(BIN)/python cmake/pack_wheel.py build/wheels/*.whl dist

test-kernels: $(BIN)/python
	$(BIN)/cmake -S . -B build/kernels -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DGNOMON_PYTHON=OFF -DGNOMON_TESTS=ON
	$(BIN)/cmake --build build/kernels
	$(BIN)/ctest --test-dir build/kernels --output-on-failure

test-sanitizers: $(BIN)/python
	for checks in address,undefined thread; do \
		$(BIN)/cmake -S . -B build/$$checks -DGNOMON_PYTHON=OFF -DGNOMON_TESTS=ON -DGNOMON_SANITIZE=$$checks && \
		$(BIN)/cmake --build build/$$checks && $(BIN)/ctest --test-dir build/$$checks --output-on-failure || exit 1; \
	done

# Branches of Python under the fast suite, lines of C++ under its own tests; pages of both in build/coverage.
coverage: $(BIN)/python
	$(INSTALL) ".[coverage]"
	rm -f build/coverage/python.*
	$(BIN)/coverage run -m pytest -n auto --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet -d build/coverage/html
	$(BIN)/coverage report --skip-covered --sort=cover
	$(MAKE) coverage-cpp

coverage-cpp: $(BIN)/python
	$(INSTALL) ".[coverage]"
	$(BIN)/cmake -S . -B build/coverage/cpp -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja \
		-DGNOMON_PYTHON=OFF -DGNOMON_TESTS=ON -DGNOMON_COVERAGE=ON -DGNOMON_ARCH=native
	$(BIN)/cmake --build build/coverage/cpp
	find build/coverage/cpp -name '*.gcda' -delete
	$(BIN)/ctest --test-dir build/coverage/cpp --output-on-failure
	$(BIN)/gcovr --root . --filter cpp/ --exclude cpp/tests --exclude-throw-branches \
		--html-details build/coverage/cpp.html --print-summary build/coverage/cpp

# Errors put into the source at random: how many the tests notice. `make mutation ROOMS=evaluation`.
mutation: $(BIN)/python
	$(INSTALL) ".[coverage]"
	$(BIN)/python -m benchmarks.mutation $(ROOMS)

test-slow: $(BIN)/python
	$(INSTALL) ".[test]"
	$(BIN)/python -m pytest -m slow

lint: $(BIN)/python
	$(INSTALL) ".[test,lint]"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(MAKE) types test-types

types:
	cd $(BIN) && ./mypy --config-file $(CURDIR)/pyproject.toml -p gnomon

# That mypy and pyright see a misspelled parameter of a map or an estimator.
test-types:
	$(BIN)/python -m pytest -m slow tests/maps/test_typed_parameters.py

# Needs npm; installs TypeScript and Prettier below build/js.
lint-js:
	npm install --silent --no-audit --no-fund --prefix build/js typescript@5 prettier@3
	build/js/node_modules/.bin/tsc --project jsconfig.json
	build/js/node_modules/.bin/prettier --print-width 120 --object-wrap collapse --check "src/gnomon/{viewer/static/**,notebook}/*.js"

# Needs clang-tidy, such as from `pip install clang-tidy`; passes over without it.
lint-cpp: $(BIN)/python
	@if ! command -v $(CLANG_TIDY) > /dev/null; then echo "lint-cpp: no $(CLANG_TIDY); nothing checked"; exit 0; fi; \
	$(BIN)/cmake -S . -B build/tidy -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja \
		-DGNOMON_PYTHON=OFF -DGNOMON_ARCH=native -DCMAKE_EXPORT_COMPILE_COMMANDS=ON > /dev/null && \
	printf '%s\n' $(wildcard cpp/src/*.cpp) | xargs -P 2 -n 4 $(CLANG_TIDY) --quiet -p build/tidy

format: $(BIN)/python
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format . ; $(BIN)/clang-format -i $(CPP)

# After a change to the registry of methods: the lists of them in stubs and pages.
lists: $(BIN)/python
	$(INSTALL) .
	$(BIN)/python docs/lists.py

# After a change that shows: the small maps of methods, parameters, guides and gallery in docs/images.
pictures: $(BIN)/python
	$(INSTALL) ".[plot,images]"
	$(BIN)/python docs/pictures.py

docs: $(BIN)/python
	$(INSTALL) ".[docs]"
	$(BIN)/sphinx-build -q -W docs build/docs

clean:
	rm -rf build $(VENV)
