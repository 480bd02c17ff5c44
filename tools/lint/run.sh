#!/bin/sh
# Checks layout, lints, words and links of everything in the checkout.
#
#   tools/lint/run.sh              check; ends with the number of checks that passed and failed
#   tools/lint/run.sh --fix        apply the formatters and the safe fixes first
#   tools/lint/run.sh CHECK...     only these: rustfmt clippy clang-format ruff ruff-format shellcheck tsc
#                                  typos words book lines header workflows
set -u
cd "$(dirname "$0")/../.." || exit 2
wheels=build/venv-lint/bin

if [ "${1:-}" = --fix ]; then
    tools/cargo.sh fmt --all
    git ls-files -z '*.c' '*.h' | xargs -0 "$wheels/clang-format" -i
    "$wheels/ruff" check --quiet --fix .
    "$wheels/ruff" format --quiet .
    shift
fi

scripts() { git ls-files -z '*.sh' .ci/run tests/rig/run; }

# Files for GitHub and GitLab are what their published schemas say; the wheel brings the schemas.
workflows() {
    checker="$wheels/check-jsonschema --builtin-schema"
    examples=packages/action/examples
    # shellcheck disable=SC2086  # the checker's two words
    $checker vendor.github-workflows .github/workflows/*.yml "$examples"/github-*.yml &&
        $checker vendor.github-actions packages/action/action.yml &&
        $checker vendor.gitlab-ci "$examples"/gitlab-*.yml
}

# One check by its name. Output is shown only if it fails.
check() {
    case "$1" in
    rustfmt) tools/cargo.sh fmt --all --check ;;
    clippy) tools/cargo.sh clippy --locked --workspace --all-targets -- -D warnings ;;
    clang-format) git ls-files -z '*.c' '*.h' | xargs -0 "$wheels/clang-format" --dry-run -Werror ;;
    ruff) "$wheels/ruff" check . ;;
    ruff-format) "$wheels/ruff" format --check . ;;
    shellcheck) scripts | xargs -0 "$wheels/shellcheck" ;;
    tsc) (cd web && npm ci --silent --no-audit --no-fund && npx tsc --noEmit) ;;
    typos) "$wheels/typos" --config tools/lint/typos.toml ;;
    words) python3 tools/lint/words.py ;;
    book) python3 tools/lint/book.py && tools/cargo.sh test -q --locked -p evenkeel-cli --test book ;;
    lines) python3 tools/lint/lines.py ;;
    workflows) workflows ;;
    header) tools/cargo.sh test -q --locked -p evenkeel-mpi --lib header ;;
    *) echo "there is no check $1" && return 2 ;;
    esac
}

[ $# -gt 0 ] ||
    set -- rustfmt clippy clang-format ruff ruff-format shellcheck tsc typos words book lines header workflows
passed=0 failed=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT
for name in "$@"; do
    if check "$name" >"$output" 2>&1; then
        echo "lint: $name passed"
        passed=$((passed + 1))
    else
        cat "$output"
        echo "lint: $name FAILED"
        failed=$((failed + 1))
    fi
done
echo "lint: $passed passed, $failed failed"
[ "$failed" = 0 ]
