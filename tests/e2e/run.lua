-- Runs phase 3 from Neovim by the code action of a kernel, and says what stood on the error's line, and what after it was mended.
local editor = dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "client.lua")
local said, wait = editor.said, editor.wait
said.messages, editor.patience = {}, 60000

editor.session(function()
  local buffer, id = editor.open({
    init_options = { select = { "opdev" }, run = { executor = "host" }, lang = "zh" },
    handlers = {
      ["window/showMessage"] = function(_, message) table.insert(said.messages, message.message) end,
    },
  })
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
  os.remove(vim.env.OPDEV_ROOT .. "/custom-ops/demo/broken")
  start()
  wait("no error any more", function() return #ours() == 0 end)
  wait("word of its end", function() return #said.messages > 1 end)
  editor.close(id)
end)
