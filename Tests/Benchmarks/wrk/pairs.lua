-- A device exchanges its token for a code, a backend redeems the code. A code that has come is redeemed by the thread's
-- next request; without one, the next request is an exchange. Only redeemed codes count.
-- Argument: the plan.

require "summary"

local plan, exchanges
local codes, turn = {}, 0

function init(arguments)
    plan = dofile(arguments[1])
    exchanges = {}
    for index, token in ipairs(plan.tokens) do
        local headers = { ["Authorization"] = "Bearer " .. token }
        for name, value in pairs(plan.headers) do headers[name] = value end
        exchanges[index] = wrk.format("POST", plan.exchange.path, headers, plan.exchange.body)
    end
    turn = number
end

function request()
    local code = table.remove(codes)
    if code then
        return wrk.format("POST", plan.redeem.path, plan.headers, plan.redeem.before .. code)
    end
    turn = turn % #exchanges + 1
    return exchanges[turn]
end

function response(status, headers, body)
    if status ~= 200 then return end
    local code = body:match('"code"%s*:%s*"([^"]+)"')
    if code then
        codes[#codes + 1] = code
    elseif body:find('"access_token"', 1, true) then
        finished = finished + 1
    end
end
