-- One line of JSON at the end of a run. The other scripts require it; wrk runs in this directory.

local threads = {}

function setup(thread)
    threads[#threads + 1] = thread
    thread:set("number", #threads)
    thread:set("finished", 0)  -- what the script itself counts: pairs
    thread:set("starved", 0)   -- requests that had nothing to send
end

function done(summary, latency, requests)
    local finished, starved = 0, 0
    for _, thread in ipairs(threads) do
        finished = finished + thread:get("finished")
        starved = starved + thread:get("starved")
    end
    local errors = summary.errors
    io.write(string.format(
        '{"requests":%d,"microseconds":%d,"refused":%d,"broken":%d,"p50":%d,"p99":%d,"finished":%d,"starved":%d}\n',
        summary.requests, summary.duration, errors.status,
        errors.connect + errors.read + errors.write + errors.timeout,
        latency:percentile(50), latency:percentile(99), finished, starved))
end
