-- The same few requests round and round: a constant, client_credentials, refresh_token, introspect, password.
-- Argument: the plan.

require "summary"

local ready, turn = {}, 0

function init(arguments)
    local plan = dofile(arguments[1])
    for index, body in ipairs(plan.bodies) do
        ready[index] = wrk.format(plan.method, plan.path, plan.headers, body ~= "" and body or nil)
    end
    turn = number  -- threads start apart
end

function request()
    turn = turn % #ready + 1
    return ready[turn]
end
