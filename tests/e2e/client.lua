-- What the sessions here begin and end with: the file opened with the server on it, and what was said written down.
local editor = { said = {}, patience = 60000 }

function editor.finish()
  local file = io.open(vim.env.OPDEV_RESULT, "w")
  file:write(vim.fn.json_encode(editor.said))
  file:close()
  vim.cmd("qall!")
end

function editor.wait(what, found)
  if not vim.wait(editor.patience, found, 20) then
    editor.said.failed = what
    editor.finish()
  end
end

-- The buffer of OPDEV_FILE and the id of the client that is attached to it; `options` are the client's own.
function editor.open(options)
  vim.cmd("edit " .. vim.fn.fnameescape(vim.env.OPDEV_FILE))
  local buffer = vim.api.nvim_get_current_buf()
  local ours = { name = "opdev", cmd = { vim.env.OPDEV_PYTHON, "-m", "opdev.lsp" }, root_dir = vim.env.OPDEV_ROOT }
  local id = vim.lsp.start_client(vim.tbl_extend("error", ours, options))
  vim.lsp.buf_attach_client(buffer, id)
  return buffer, id
end

function editor.close(id)
  local client = vim.lsp.get_client_by_id(id)
  vim.lsp.stop_client(id)
  editor.wait("end of the server", function() return vim.lsp.get_client_by_id(id) == nil or client.is_stopped() end)
end

-- A whole session: what goes wrong in it is said, too.
function editor.session(run)
  local ok, problem = pcall(run)
  if not ok then editor.said.failed = tostring(problem) end
  editor.finish()
end

return editor
