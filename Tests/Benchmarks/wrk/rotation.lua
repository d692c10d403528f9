-- Public clients, each following its own chain of refresh tokens: what an answer brings is what is sent next.
-- wrk does not say which connection asks, so the chains of a thread wait in one line; there are more than connections.
-- Argument: the plan.

require "summary"

local plan, waiting

function init(arguments)
    plan = dofile(arguments[1])
    waiting = plan.chains[number]
end

function request()
    local token = table.remove(waiting, 1)
    if not token then
        starved = starved + 1
        return wrk.format("GET", "/healthz")
    end
    return wrk.format("POST", plan.path, plan.headers, plan.before .. token)
end

function response(status, headers, body)
    local successor = status == 200 and body:match('"refresh_token"%s*:%s*"([^"]+)"')
    if successor then
        waiting[#waiting + 1] = successor
        finished = finished + 1
    end
end
