#!/usr/bin/env bash
# `make demo`: an operator written in a hurry, what opdev finds in it, what it fixes, what is left to people; then a
# new operator from nothing to a passed case matrix on the CPU stand-in, and a quiet taken out of another.
# BIN is the folder of the installed opdev-lint. Fails when the demonstration does not show what it should.
set -euo pipefail

HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
BIN="$(cd "${BIN:-${HERE}/../../.venv/bin}" && pwd)"
OPERATOR=custom-ops/allgather
DIFF_LINES=40

case "${OPDEV_LANG:-${LC_ALL:-${LC_MESSAGES:-${LANG:-}}}}" in
    zh*) LANGUAGE=zh ;;
    *) LANGUAGE=en ;;
esac
BOLD="" PLAIN=""
if [[ -t 1 && -z "${NO_COLOR:-}" ]]; then
    BOLD=$'\033[1m' PLAIN=$'\033[0m'
fi

# Says the first text in Chinese locales, else the second.
say() {
    if [[ "${LANGUAGE}" == zh ]]; then printf '%s\n' "$1"; else printf '%s\n' "$2"; fi
}

# A heading, and the command that follows it.
step() {
    printf '\n%s' "${BOLD}"
    say "$1" "$2"
    printf '$ %s%s\n\n' "$3" "${PLAIN}"
}

fail() {
    printf '%s' "${BOLD}make demo: " >&2
    say "$1" "$2" >&2
    printf '%s' "${PLAIN}" >&2
    exit 1
}

lint() {
    local status=0
    "${BIN}/opdev-lint" --lang "${LANGUAGE}" "$@" || status=$?
    # 1 is "there are findings"; anything above is a fault of the tool.
    [[ "${status}" -le 1 ]] || fail "opdev-lint 以 ${status} 退出" "opdev-lint ended with ${status}"
}

# How many findings there are now.
count() {
    lint --format jsonl "${OPERATOR}" | wc -l | tr -d ' '
}

DEMO="$(mktemp -d "${TMPDIR:-/tmp}/opdev-demo.XXXXXX")"
"${BIN}/python" "${HERE}/materialise.py" allgather-hurried "${DEMO}/shmem" > /dev/null
cd "${DEMO}/shmem"
say "一个赶时间写的 allgather：${DEMO}/shmem/${OPERATOR}" "An allgather written in a hurry: ${DEMO}/shmem/${OPERATOR}"

step "1. 有哪些问题" "1. What is wrong with it" "opdev-lint ${OPERATOR}"
lint "${OPERATOR}"
found="$(count)"
[[ "${found}" -ge 10 ]] || fail "只找到 ${found} 处问题" "only ${found} findings"

step "2. 能放心自动修复的部分会怎么改" "2. What the safe fixes would change" "opdev-lint ${OPERATOR} --diff | head -n ${DIFF_LINES}"
lint "${OPERATOR}" --diff > "${DEMO}/fixes.diff" 2> "${DEMO}/fixes.txt"
sed -n "1,${DIFF_LINES}p" "${DEMO}/fixes.diff"
lines="$(wc -l < "${DEMO}/fixes.diff" | tr -d ' ')"
[[ "${lines}" -gt 0 ]] || fail "没有可修复的问题" "there is nothing to fix"
if [[ "${lines}" -gt "${DIFF_LINES}" ]]; then
    say "……还有 $((lines - DIFF_LINES)) 行，全部在 ${DEMO}/fixes.diff" "... and $((lines - DIFF_LINES)) lines more, all of it in ${DEMO}/fixes.diff"
fi

step "3. 修复，并再检查一遍" "3. Fix it, and look again" "opdev-lint ${OPERATOR} --fix"
lint "${OPERATOR}" --fix
left="$(count)"
[[ "${left}" -lt "${found}" && "${left}" -gt 0 ]] || fail "修复前 ${found} 处，修复后 ${left} 处" "${found} findings before the fixes and ${left} after them"
lint "${OPERATOR}" --diff > "${DEMO}/again.diff" 2> /dev/null
[[ ! -s "${DEMO}/again.diff" ]] || fail "修复之后又有新的可修复问题：${DEMO}/again.diff" "the fixes made something that can be fixed again: ${DEMO}/again.diff"

printf '\n%s' "${BOLD}"
say "${found} 处问题，自动修复了 $((found - left)) 处，剩下的 ${left} 处要人来定。" \
    "${found} findings, $((found - left)) fixed, and ${left} left for people to decide."
printf '%s' "${PLAIN}"
say "某条规则的来由与改法：${BIN}/opdev-lint explain lost-exit-status" "Why a rule is there and what to do: ${BIN}/opdev-lint explain lost-exit-status"

# A new operator, from nothing to a passed case matrix, on the CPU stand-in.
NEW=custom-ops/ring_allgather

step "4. 写一个新算子" "4. Write a new operator" "opdev new ring_allgather --kind allgather --dtypes float16"
"${BIN}/opdev" new ring_allgather --kind allgather --dtypes float16 --dir . --lang "${LANGUAGE}"
clean="$(lint --format jsonl "${NEW}" | wc -l | tr -d ' ')"
[[ "${clean}" -eq 0 ]] || fail "新算子有 ${clean} 处问题" "the new operator has ${clean} findings"

step "5. 启动确认的五个问题（无 NPU：只用 CPU 模拟环境）" "5. The five questions (no NPU here: the CPU stand-in only)" "opdev intake --op ${NEW} --cann default --build-mode custom_ops …"
"${BIN}/opdev" intake --op "${NEW}" --cann default --build-mode custom_ops --torch no --perf yes --perf-auto-optim no \
    --semantics "每个 PE 得到所有 PE 的数据，按 PE 号拼接" --container none --shmem-repo later --lang "${LANGUAGE}" \
    > "${DEMO}/intake.txt" || { cat "${DEMO}/intake.txt"; fail "五个问题没有记录" "the five questions are not on record"; }
sed -n 1,8p "${DEMO}/intake.txt"

step "6. 编译并冒烟（CPU 模拟，2 个 PE）" "6. Build it and run it on 2 PEs (CPU stand-in: simulated)" "opdev run 3 --op ${NEW} --executor sim"
"${BIN}/opdev" run 3 --op "${NEW}" --executor sim --lang "${LANGUAGE}"

step "7. 跑用例矩阵：2、4、8 个 PE" "7. Run the case matrix on 2, 4 and 8 PEs" "opdev run 4 --op ${NEW} --executor sim"
"${BIN}/opdev" run 4 --op "${NEW}" --executor sim --lang "${LANGUAGE}"
printf '\n$ opdev precision --op %s\n\n' "${NEW}"
"${BIN}/opdev" precision --op "${NEW}" --lang "${LANGUAGE}"

step "8. 性能：2 个和 8 个 PE 的带宽与时延（模拟）" "8. Bandwidth and latency on 2 and 8 PEs (simulated)" "opdev run 6 --op ${NEW} --executor sim --pes 2,8"
# Phase 6 stays closed: what the stand-in measures proves nothing of an NPU, and the run says so.
"${BIN}/opdev" run 6 --op "${NEW}" --executor sim --pes 2,8 --lang "${LANGUAGE}" > "${DEMO}/perf.txt" 2>&1 || true
"${BIN}/opdev" perf show last --op "${NEW}" --lang "${LANGUAGE}" | tee "${DEMO}/tables.txt"
grep -qE '模拟|simulated' "${DEMO}/tables.txt" && grep -qE ' 8pe| 8 ' "${DEMO}/tables.txt" \
    || fail "没有性能表：${DEMO}/perf.txt" "there are no tables: ${DEMO}/perf.txt"
if "${BIN}/opdev" gate 6 --op "${NEW}" > /dev/null; then
    fail "模拟数据打开了 Phase 6 的门禁" "simulated figures opened the gate of Phase 6"
fi

step "9. 到哪一步了" "9. Where it stands" "opdev status --op ${NEW}"
"${BIN}/opdev" status --op "${NEW}" --lang "${LANGUAGE}"

OTHER=custom-ops/put_signal
step "10. 从另一个算子里去掉一个 quiet：检查器和模拟环境都会发现" "10. Take a quiet out of another operator: the linter sees it, and so does a run" "opdev sim run ${OTHER} -- 2 100003 float32"
sed -i '0,/aclshmemx_mte_quiet();/{/aclshmemx_mte_quiet();/d}' "${OTHER}/src/put_signal_kernel.cpp"
lint "${OTHER}"
status=0
"${BIN}/opdev" sim run "${OTHER}" --lang "${LANGUAGE}" -- 2 100003 float32 > "${DEMO}/broken.txt" 2>&1 || status=$?
grep -E '^\[(sim|模拟)\]' "${DEMO}/broken.txt" | head -n 3 || true
[[ "${status}" -ne 0 ]] || fail "没有发现去掉的 quiet" "the missing quiet was not caught"
say "运行以 ${status} 退出，全部输出在 ${DEMO}/broken.txt" "The run ended with ${status}; all of it is in ${DEMO}/broken.txt"

printf '\n%s' "${BOLD}"
say "在编辑器里继续" "Go on in your editor"
printf '%s' "${PLAIN}"
say "VS Code：make vsix 生成扩展，“从 VSIX 安装”，再打开 ${DEMO}/shmem" \
    "VS Code: make vsix builds the extension; \"Install from VSIX…\", and open ${DEMO}/shmem"
say "Neovim：下面几行已写在 ${DEMO}/opdev.lua，" "Neovim: these lines are in ${DEMO}/opdev.lua,"
cat > "${DEMO}/opdev.lua" <<LUA
vim.api.nvim_create_autocmd("FileType", {
  callback = function(args)
    local client = vim.lsp.start_client({ name = "opdev", cmd = { "${BIN}/opdev-lsp" }, root_dir = vim.fn.getcwd() })
    vim.lsp.buf_attach_client(args.buf, client)
  end,
})
LUA
sed 's/^/    /' "${DEMO}/opdev.lua"
say "然后：" "so that this shows it:"
printf '    cd %s && nvim -u %s %s\n' "${DEMO}/shmem" "${DEMO}/opdev.lua" "${OPERATOR}/src/allgather_kernel.cpp"
printf '\n'
say "看完可以删除：rm -r ${DEMO}" "To remove all this: rm -r ${DEMO}"
