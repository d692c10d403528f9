-- As steady.lua, but counted are answers with what was asked for in them, whatever their status.
-- Argument: the plan; its `expect` is a pattern of Lua.

require "steady"

local expect
local steady = init

function init(arguments)
    steady(arguments)
    expect = dofile(arguments[1]).expect
end

function response(status, headers, body)
    if body:find(expect) then finished = finished + 1 end
end
