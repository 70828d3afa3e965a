-- Opens a design in Neovim, completes a key and a case id, reads the hints and the lens, renames the operator, and says what came of it.
local editor = dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "client.lua")
local said, wait = editor.said, editor.wait

editor.session(function()
  -- This Neovim knows no hints itself; the client says it does and reads them from the wire.
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.textDocument.inlayHint = { dynamicRegistration = false }
  capabilities.workspace.workspaceEdit.documentChanges = true
  local buffer, id = editor.open({ capabilities = capabilities })
  wait("the server", function() return vim.lsp.get_client_by_id(id) and vim.lsp.get_client_by_id(id).initialized end)
  local client = vim.lsp.get_client_by_id(id)
  local messages = {}
  client.handlers["window/showMessage"] = function(_, params) table.insert(messages, params.message) end
  local document = { uri = vim.uri_from_bufnr(buffer) }

  local function ask(method, params)
    local answer = client.request_sync("textDocument/" .. method, vim.tbl_extend("force", { textDocument = document }, params), 30000, buffer)
    if answer.err then error(method .. ": " .. answer.err.message) end
    return answer.result
  end

  local function line_of(text)
    for number, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
      if line:find(text, 1, true) then return number - 1, line end
    end
    error("no line with " .. text)
  end

  -- A key, typed in part below one with Chinese text and an emoji, then accepted.
  local summary = line_of("finalize:")
  vim.api.nvim_buf_set_lines(buffer, summary + 1, summary + 2, false, { "  res" })
  local items = ask("completion", { position = { line = summary + 1, character = 5 } }).items
  said.keys = vim.tbl_map(function(item) return item.label end, items)
  for _, item in ipairs(items) do
    if item.label == "result" then
      item.textEdit.newText = item.textEdit.newText:gsub("%${%d+:([^}]*)}", "%1")
      vim.lsp.util.apply_text_edits({ item.textEdit }, buffer, client.offset_encoding)
    end
  end
  said.completed = vim.api.nvim_buf_get_lines(buffer, summary + 1, summary + 2, false)[1]

  -- The numbers beside a case.
  local number, case = line_of("case: 大用例")
  local hints = ask("inlayHint", { range = { start = { line = number, character = 0 }, ["end"] = { line = number + 1, character = 0 } } })
  said.hint = hints[1].label
  said.hint_after = case:sub(1, vim.str_byteindex(case, hints[1].position.character, true))
  said.hover = ask("hover", { position = { line = number, character = 8 } }).contents.value

  -- Another name for the operator, in every file.
  local where = line_of("op_name: demo")
  local edit = ask("rename", { position = { line = where, character = 12 }, newName = "ring_demo" })
  vim.lsp.util.apply_workspace_edit(edit, client.offset_encoding)
  vim.cmd("silent! wall!")
  -- This Neovim moves no folders, and the server, which knows, says so.
  said.messages = messages
  said.op_name = select(2, line_of("op_name:"))
  said.names = vim.tbl_map(function(b) return vim.api.nvim_buf_get_name(b) end, vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.api.nvim_list_bufs()))

  editor.close(id)
end)
