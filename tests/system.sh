#!/usr/bin/env bash
# Checks that commands exist; installs their packages where it may (root, apt), else names them.
set -euo pipefail

declare -A package=([nvim]=neovim [krb5]=libkrb5-dev [chinese-font]=fonts-noto-cjk)
missing=()
has() {
  case "$1" in
    krb5) command -v krb5-config >/dev/null 2>&1 ;; # a module of code-server is compiled against it
    chinese-font) [ -n "$(fc-list :lang=zh 2>/dev/null)" ] ;;
    chromium) command -v chromium || command -v chromium-browser || command -v google-chrome ;;
    *) command -v "$1" ;;
  esac >/dev/null 2>&1
}
for thing in "$@"; do
  has "$thing" || missing+=("${package[$thing]:-$thing}")
done
# Debian splits venv from Python.
if ! python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then
  missing+=(python3-venv)
fi
[ "${#missing[@]}" -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
else
  echo "these packages are needed and not installed: ${missing[*]}" >&2
  echo "install them (for example: sudo apt-get install ${missing[*]}) and run make again" >&2
  exit 1
fi
