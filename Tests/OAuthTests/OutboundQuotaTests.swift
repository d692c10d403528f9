import Logging
import Synchronization
import TestSupport
import Testing
import Values

@testable import Outbound

@Suite("Bounds of requests to other servers")
struct OutboundQuotaTests {
    /// Holds questions until it is opened.
    private final class Gate: Sendable {
        private let state = Mutex((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))
        var waiting: Int { state.withLock { $0.waiting.count } }

        func pass() async {
            await withCheckedContinuation { caller in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting.append(caller) }
                    return state.isOpen
                }
                if isOpen { caller.resume() }
            }
        }

        func open() {
            let callers = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for caller in callers { caller.resume() }
        }
    }

    @Test("One client or host gets its share, others go on, and all together stay below the purpose's bound")
    func atOnce() async throws {
        let quota = OutboundQuota(clock: ManualClock())
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...4 {
                for _ in 1...8 {
                    group.addTask { try await quota.ask(for: .sector, by: "\(number)") { await gate.pass() } }
                }
                while gate.waiting < number * 8 { try await Task.sleep(for: .milliseconds(1)) }
                if number == 1 {
                    await #expect(throws: OutboundError.tooMany) { try await quota.ask(for: .sector, by: "1") {} }
                }
            }
            await #expect(throws: OutboundError.tooMany) { try await quota.ask(for: .sector, by: "5") {} }
            // Another purpose has its own.
            try await quota.ask(for: .keys, by: "1") {}
            gate.open()
            try await group.waitForAll()
        }
        #expect(quota.underWay == 0)
        try await quota.ask(for: .sector, by: "5") {}
    }

    @Test("An outbound request that fails, times out or is cancelled frees its place")
    func freed() async throws {
        struct Fault: Error {}
        let quota = OutboundQuota(clock: ManualClock())
        for _ in 1...10 {
            await #expect(throws: Fault.self) { try await quota.ask(for: .delivery, by: "a") { throw Fault() } }
            let task = Task {
                try await quota.ask(for: .delivery, by: "a") { try await Task.sleep(for: .seconds(3600)) }
            }
            while quota.underWay == 0 { await Task.yield() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(quota.underWay == 0)
    }

    @Test("A client or host that asks too often waits, others do not, and its allowance returns with time")
    func rate() async throws {
        let clock = ManualClock()
        let quota = OutboundQuota(clock: clock)
        for _ in 1...300 { try await quota.ask(for: .sector, by: "a") {} }
        for _ in 1...5 {
            await #expect(throws: OutboundError.tooOften) { try await quota.ask(for: .sector, by: "a") {} }
        }
        try await quota.ask(for: .sector, by: "b") {}
        clock.advance(by: .seconds(1))
        try await quota.ask(for: .sector, by: "a") {}
        await #expect(throws: OutboundError.tooOften) { try await quota.ask(for: .sector, by: "a") {} }
        // A clock that was set back keeps nobody out for longer than a full measure.
        clock.advance(by: .days(-1))
        clock.advance(by: .minutes(5))
        try await quota.ask(for: .sector, by: "a") {}
    }

    @Test("Thirty thousand names together keep to the common rate, and are forgotten again")
    func askers() async throws {
        let quota = OutboundQuota(clock: ManualClock())
        var answered = 0
        for number in 1...30_000 where (try? await quota.ask(for: .requestObject, by: "\(number)") {}) != nil {
            answered += 1
        }
        #expect(answered == 24_000)
    }

    @Test("A browser uses up its own share of a client's requests, not the client's")
    func parts() async throws {
        let clock = ManualClock()
        let quota = OutboundQuota(clock: clock)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...4 {
                group.addTask { try await quota.ask(for: .requestObject, by: "a", part: "::1") { await gate.pass() } }
            }
            while gate.waiting < 4 { try await Task.sleep(for: .milliseconds(1)) }
            await #expect(throws: OutboundError.tooMany) {
                try await quota.ask(for: .requestObject, by: "a", part: "::1") {}
            }
            try await quota.ask(for: .requestObject, by: "a", part: "::2") {}
            try await quota.ask(for: .requestObject, by: "b", part: "::1") {}
            gate.open()
            try await group.waitForAll()
        }
        for _ in 1...56 { try await quota.ask(for: .requestObject, by: "a", part: "::1") {} }
        for _ in 1...2000 {
            await #expect(throws: OutboundError.tooOften) {
                try await quota.ask(for: .requestObject, by: "a", part: "::1") {}
            }
        }
        try await quota.ask(for: .requestObject, by: "a", part: "::2") {}
    }

    @Test("One IPv6 site has a bounded share of a client's request objects, and other sites have theirs")
    func site() async throws {
        let quota = OutboundQuota(clock: ManualClock())
        var answered = 0
        for number in 1...400 {
            let browser = "2001:db8:1:\(String(number, radix: 16))::/64"
            if (try? await quota.ask(for: .requestObject, by: "a", part: browser) {}) != nil { answered += 1 }
        }
        #expect(answered == 240)
        for site in 2...9 { try await quota.ask(for: .requestObject, by: "a", part: "2001:db8:\(site):1::/64") {} }
        try await quota.ask(for: .requestObject, by: "b", part: "2001:db8:1:1::/64") {}
    }

    @Test(
        "A merchant's sixty hanging key sets take neither the places of others nor their rate",
        arguments: [OutboundPurpose.keys, .discovery])
    func merchants(purpose: OutboundPurpose) async throws {
        let quota = OutboundQuota(clock: ManualClock())
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...8 {
                group.addTask { try await quota.ask(for: purpose, by: "a", part: "\(number)") { await gate.pass() } }
            }
            while gate.waiting < 8 { try await Task.sleep(for: .milliseconds(1)) }
            for number in 9...60 {
                await #expect(throws: OutboundError.tooMany) {
                    try await quota.ask(for: purpose, by: "a", part: "\(number)") {}
                }
            }
            try await quota.ask(for: purpose, by: "b", part: "1") {}
            gate.open()
            try await group.waitForAll()
        }
        var answered = 0
        for number in 1...2000 where (try? await quota.ask(for: purpose, by: "a", part: "\(number)") {}) != nil {
            answered += 1
        }
        #expect(answered == 592)
        for number in 1...100 { try await quota.ask(for: purpose, by: "b", part: "\(number)") {} }
    }

    @Test("A merchant's clients together have a quarter of the request objects that are fetched at once")
    func shares() async throws {
        let quota = OutboundQuota(clock: ManualClock())
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    try await quota.ask(for: .requestObject, by: "\(number / 16)", of: "a", part: "\(number / 4)") {
                        await gate.pass()
                    }
                }
            }
            while gate.waiting < 64 { try await Task.sleep(for: .milliseconds(1)) }
            await #expect(throws: OutboundError.tooMany) {
                try await quota.ask(for: .requestObject, by: "other", of: "a", part: "::1") {}
            }
            try await quota.ask(for: .requestObject, by: "other", of: "b", part: "::1") {}
            gate.open()
            try await group.waitForAll()
        }
        #expect(quota.underWay == 0)
    }

    @Test("A merchant with a thousand clients does not use up the request objects of all merchants")
    func rateOfShare() async throws {
        let quota = OutboundQuota(clock: ManualClock())
        var answered = 0
        for client in 1...1000 {
            for address in 1...30 {
                let part = "192.0.2.\(address)"
                let asked: Void? = try? await quota.ask(for: .requestObject, by: "\(client)", of: "a", part: part) {}
                if asked != nil { answered += 1 }
            }
        }
        #expect(answered == 2400)
        try await quota.ask(for: .requestObject, by: "other", of: "b", part: "192.0.2.77") {}
    }

    @Test("A browser has its own rate across all clients")
    func rateOfBrowser() async throws {
        let quota = OutboundQuota(clock: ManualClock())
        var answered = 0
        for client in 1...3000 {
            let name = "\(client)"
            let asked: Void? = try? await quota.ask(for: .requestObject, by: name, of: name, part: "::1") {}
            if asked != nil { answered += 1 }
        }
        #expect(answered == 600)
        try await quota.ask(for: .requestObject, by: "other", of: "b", part: "::2") {}
    }

    @Test("Deliveries to other servers have no rate")
    func unbounded() async throws {
        let quota = OutboundQuota(clock: ManualClock())
        for _ in 1...2000 { try await quota.ask(for: .delivery, by: "client.example") {} }
    }

    @Test("An outbound request to a server that does not answer in time frees its place")
    func timeOut() async throws {
        let silent = try LocalListener { _ in nil }
        defer { silent.stop() }
        let policy = OutboundPolicy(
            allowedPrivateRanges: ["127.0.0.1"].compactMap { CIDR($0) }, longestWait: .milliseconds(50))
        let outbound = Outbound(policy: policy, logger: .silent).asking(for: .sector, by: "a")
        for _ in 1...6 {
            await #expect(throws: OutboundError.timedOut) {
                try await outbound.get("http://127.0.0.1:\(silent.port)/")
            }
        }
    }
}
