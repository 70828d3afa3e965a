-- Opens a script in Neovim, waits for its diagnostic, applies the preferred code action, and says what came of it.
local python, root, path, result = vim.env.OPDEV_PYTHON, vim.env.OPDEV_ROOT, vim.env.OPDEV_FILE, vim.env.OPDEV_RESULT
local said = {}

local function finish()
  local file = io.open(result, "w")
  file:write(vim.fn.json_encode(said))
  file:close()
  vim.cmd("qall!")
end

local function wait(what, found)
  if not vim.wait(30000, found, 20) then
    said.failed = what
    finish()
  end
end

local function run()
  vim.cmd("edit " .. vim.fn.fnameescape(path))
  local buffer = vim.api.nvim_get_current_buf()
  local id = vim.lsp.start_client({
    name = "opdev",
    cmd = { python, "-m", "opdev.lsp" },
    root_dir = root,
    init_options = { select = { "hardcoded-endpoint" } },
  })
  vim.lsp.buf_attach_client(buffer, id)
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

  vim.lsp.stop_client(id)
  wait("end of the server", function() return vim.lsp.get_client_by_id(id) == nil or client.is_stopped() end)
end

local ok, problem = pcall(run)
if not ok then said.failed = tostring(problem) end
finish()
