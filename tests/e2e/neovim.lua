-- Opens a script in Neovim, waits for its diagnostic, applies the preferred code action, and says what came of it.
local editor = dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "client.lua")
local said, wait = editor.said, editor.wait

editor.session(function()
  local buffer, id = editor.open({
    init_options = { select = { "hardcoded-endpoint" } },
  })
  wait("diagnostic", function() return #vim.diagnostic.get(buffer) > 0 end)
  local found = vim.diagnostic.get(buffer)[1]
  said.diagnostic = { line = found.lnum, column = found.col, last = found.end_col, message = found.message, code = found.user_data and found.user_data.lsp.code or found.code }

  local client = vim.lsp.get_client_by_id(id)
  local document = { uri = vim.uri_from_bufnr(buffer) }
  local where = { start = { line = 1, character = 0 }, ["end"] = { line = 1, character = 0 } }
  local answer = client.request_sync("textDocument/codeAction", { textDocument = document, range = where, context = { diagnostics = {} } }, 30000, buffer)
  for _, action in ipairs(answer.result) do
    if action.isPreferred then
      said.title = action.title
      vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
    end
  end
  wait("no diagnostic after the fix", function() return #vim.diagnostic.get(buffer) == 0 end)
  said.lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)

  -- Typing, with the client's own increments, beside Chinese text and an emoji.
  vim.api.nvim_buf_set_text(buffer, 0, 0, 0, 0, { ': "中文😀"; IPPORT="tcp://127.0.0.1:1"', "" })
  wait("diagnostic after typing", function() return #vim.diagnostic.get(buffer) > 0 end)
  local typed = vim.diagnostic.get(buffer)[1]
  local text = vim.api.nvim_buf_get_lines(buffer, 0, 1, false)[1]
  said.typed = text:sub(typed.col + 1, typed.end_col)
  local hover = client.request_sync("textDocument/hover", { textDocument = document, position = { line = 0, character = 24 } }, 30000, buffer)
  said.hover = hover.result and hover.result.contents.value

  editor.close(id)
end)
