# Two commands do all set-up: `make demo` shows an explained map, `make test` passes the tests.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo dev test test-kernels test-sanitizers test-slow lint format docs clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

dev: $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[test,lint]"
	$(BIN)/pre-commit install

demo: $(BIN)/python
	$(BIN)/python -m pip install --quiet ".[plot]"
	$(BIN)/gnomon map digits -o digits.html --png digits.png

test: $(BIN)/python
	$(BIN)/python -m pip install --quiet ".[test]"
	$(BIN)/python -m pytest -n auto --dist loadfile
	$(MAKE) test-kernels

test-kernels: $(BIN)/python
	$(BIN)/cmake -S . -B build/kernels -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DGNOMON_PYTHON=OFF -DGNOMON_TESTS=ON
	$(BIN)/cmake --build build/kernels
	$(BIN)/ctest --test-dir build/kernels --output-on-failure

test-sanitizers: $(BIN)/python
	for checks in address,undefined thread; do \
		$(BIN)/cmake -S . -B build/$$checks -DGNOMON_PYTHON=OFF -DGNOMON_TESTS=ON -DGNOMON_SANITIZE=$$checks && \
		$(BIN)/cmake --build build/$$checks && $(BIN)/ctest --test-dir build/$$checks --output-on-failure || exit 1; \
	done

test-slow: $(BIN)/python
	$(BIN)/python -m pip install --quiet ".[test]"
	$(BIN)/python -m pytest -m slow

lint: $(BIN)/python
	$(BIN)/python -m pip install --quiet ".[test,lint]"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	cd $(BIN) && ./mypy --config-file $(CURDIR)/pyproject.toml -p gnomon

format: $(BIN)/python
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

docs: $(BIN)/python
	$(BIN)/python -m pip install --quiet ".[docs]"
	$(BIN)/sphinx-build -q -W docs build/docs

clean:
	rm -rf build $(VENV)
