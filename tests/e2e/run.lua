-- Runs phase 3 from Neovim by the code action of a kernel, and says what stood on the error's line, and what after it was mended.
local python, root, path, result = vim.env.OPDEV_PYTHON, vim.env.OPDEV_ROOT, vim.env.OPDEV_FILE, vim.env.OPDEV_RESULT
local said = { messages = {} }

local function finish()
  local file = io.open(result, "w")
  file:write(vim.fn.json_encode(said))
  file:close()
  vim.cmd("qall!")
end

local function wait(what, found)
  if not vim.wait(60000, found, 20) then
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
    init_options = { select = { "opdev" }, run = { executor = "host" }, lang = "zh" },
    handlers = {
      ["window/showMessage"] = function(_, message) table.insert(said.messages, message.message) end,
    },
  })
  vim.lsp.buf_attach_client(buffer, id)
  local client = vim.lsp.get_client_by_id(id)
  local document = { uri = vim.uri_from_bufnr(buffer) }
  local where = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 0 } }

  local function ours()
    return vim.tbl_filter(function(d) return d.source == "opdev run" end, vim.diagnostic.get(buffer))
  end

  local function start()
    local answer
    local params = { textDocument = document, range = where, context = { diagnostics = {} } }
    -- While a run goes on what is offered is to stop it.
    for _ = 1, 600 do
      answer = client.request_sync("textDocument/codeAction", params, 60000, buffer)
      local first = answer and answer.result and answer.result[1]
      if first and first.command and first.command.command == "opdev.runPhase" then break end
      vim.wait(100)
    end
    local action = answer.result[1]
    said.title = action.title
    local began = client.request_sync("workspace/executeCommand", action.command, 60000, buffer)
    if began.err then error(vim.inspect(began.err)) end
  end

  start()
  wait("the compiler's error", function() return #ours() > 0 end)
  local found = ours()[1]
  said.error = { line = found.lnum, column = found.col, message = found.message }
  wait("word of its end", function() return #said.messages > 0 end)
  os.remove(root .. "/custom-ops/demo/broken")
  start()
  wait("no error any more", function() return #ours() == 0 end)
  wait("word of its end", function() return #said.messages > 1 end)
  vim.lsp.stop_client(id)
  wait("end of the server", function() return vim.lsp.get_client_by_id(id) == nil or client.is_stopped() end)
end

local ok, problem = pcall(run)
if not ok then said.failed = tostring(problem) end
finish()
