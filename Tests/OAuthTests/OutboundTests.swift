import Logging
import Synchronization
import TestSupport
import Testing
import Values

@testable import Outbound

@Suite("Requests to other servers") struct OutboundTests {
    private static let logger = Logger.silent
    // Tests that are not about time have plenty of it, because others share the machine.
    private static let loopback = loopback(longestWait: .seconds(120))
    private let open = Outbound(policy: OutboundPolicy(), logger: logger)
    private let local = Outbound(policy: loopback, logger: logger)

    private static func loopback(longestWait: Duration) -> OutboundPolicy {
        OutboundPolicy(allowedPrivateRanges: ["127.0.0.1"].compactMap { CIDR($0) }, longestWait: longestWait)
    }

    @Test(
        "An outbound request to a non-public IP address is refused, however the address is written",
        arguments: [
            "https://127.0.0.1/", "https://localhost/", "https://10.0.0.1/", "https://172.16.3.4/",
            "https://192.168.1.1/", "https://169.254.169.254/latest/meta-data", "https://100.64.0.1/",
            "https://0.0.0.0/", "https://224.0.0.1/", "https://255.255.255.255/", "https://[::1]/", "https://[::]/",
            "https://[fe80::1]/", "https://[fd00::1]/", "https://[ff02::1]/", "https://[::ffff:127.0.0.1]/",
            "https://[::ffff:7f00:1]/", "https://[::127.0.0.1]/", "https://[64:ff9b::10.0.0.1]/",
            "https://[64:ff9b:1::1]/", "https://[2002:7f00:1::]/", "https://[2001:0:1::1]/", "https://2130706433/",
            "https://0x7f000001/", "https://0177.0.0.1/", "https://127.1/",
        ])
    func privateAddress(_ url: String) async {
        await #expect(throws: OutboundError.privateAddress) { try await open.get(url) }
    }

    @Test(
        "An outbound request to a URL that is ambiguous, or is not absolute http or https, is refused",
        arguments: [
            "", "keys", "//example.com/", "ftp://example.com/", "file:///etc/passwd", "unix:/run/socket",
            "http+unix://%2Frun%2Fsocket/", "https:///keys", "https://user@example.com/",
            "https://user:secret@example.com/", "https://example.com/#part", "https://exa mple.com/",
            "https://example.com\\@127.0.0.1/", "https://example.com%2f@127.0.0.1/", "https://exam%70le.com/",
            "https://bücher.example/", "https://example.com/\r\nHost: x",
            "https://[fe80::1%25eth0]/",
        ])
    func unacceptable(_ url: String) async {
        await #expect(throws: OutboundError.unacceptableURL) { try await open.get(url) }
    }

    @Test("A query parameter of an outbound request may have any value, and changes nothing but the query")
    func query() async throws {
        let server = try LoopbackServer()
        server.answer("{}")
        let secret = "a b&c=d#e?f/g%h\r\nHost: x@æ|"
        _ = try await local.get(server.address, query: ["token": secret, "fields": "id"], limit: 100)
        let line = try #require(server.requests.first?.split(separator: "\r\n").first)
        #expect(
            line == "GET /keys?token=a%20b%26c%3Dd%23e%3Ff%2Fg%25h%0D%0AHost%3A%20x%40%C3%A6%7C&fields=id HTTP/1.1")
        for (url, value) in [
            ("https://example.com/?a=b", "c"), ("https://example.com/", String(repeating: "x", count: 8000)),
        ] {
            await #expect(throws: OutboundError.unacceptableURL) {
                try await local.get(url, query: ["p": value], limit: 1)
            }
        }
        await #expect(throws: OutboundError.privateAddress) {
            try await open.get("https://127.0.0.1/", query: ["p": "q"], limit: 1)
        }
    }

    @Test("Outbound requests use plain http only to private addresses that are permitted")
    func unencrypted() async throws {
        let server = try LoopbackServer()
        await #expect(throws: OutboundError.unencrypted) { try await open.get(server.address) }
        await #expect(throws: OutboundError.unencrypted) { try await local.get("http://192.0.2.1/") }
        #expect(throws: OutboundError.unencrypted) { try OutboundPolicy().check("http://issuer.example/keys") }
        #expect(throws: OutboundError.privateAddress) { try OutboundPolicy().check("https://10.1.2.3/keys") }
        #expect(throws: Never.self) { try OutboundPolicy().check("https://issuer.example/keys") }
        #expect(server.requests.isEmpty)
    }

    @Test("An outbound answer tells how long it may be cached")
    func answer() async throws {
        let server = try LoopbackServer()
        server.answer("{}", headers: ["Cache-Control: public, Max-Age=\"120\"", "Cache-Control: must-revalidate"])
        let response = try await local.get(server.address + "?a=b", accept: "application/jwk-set+json")
        #expect(response.status == 200)
        #expect(response.body == Array("{}".utf8))
        #expect(response.maxAge == .seconds(120))
        let request = try #require(server.requests.first).lowercased()
        #expect(request.hasPrefix("get /keys?a=b http/1.1\r\n"))
        #expect(request.contains("host: 127.0.0.1:\(server.port)\r\n"))
        #expect(request.contains("accept: application/jwk-set+json\r\n"))

        server.answer("", status: "503 Service Unavailable", headers: ["Cache-Control: no-store, max-age=60"])
        let refusal = try await local.get(server.address)
        #expect(refusal.status == 503)
        #expect(refusal.maxAge == .zero)
        server.answer("")
        #expect(try await local.get(server.address).maxAge == nil)
    }

    @Test("An outbound request connects to the address that was checked, and its Host field keeps the name")
    func name() async throws {
        let server = try LoopbackServer()
        server.answer("{}")
        // Not an address by our rules, but the name service knows it.
        #expect(try await local.get("http://127.1:\(server.port)/").status == 200)
        #expect(try #require(server.requests.first).lowercased().contains("host: 127.1:\(server.port)\r\n"))
        await #expect(throws: OutboundError.unknownHost) { try await local.get("https://nobody.invalid/") }
    }

    @Test("An outbound request follows no redirect")
    func redirect() async throws {
        let (server, other) = (try LoopbackServer(), try LoopbackServer())
        other.answer("{}")
        server.answer("", status: "302 Found", headers: ["Location: \(other.address)"])
        #expect(try await local.get(server.address).status == 302)
        #expect(other.requests.isEmpty)
    }

    @Test(
        "An outbound answer with a body over its limit is refused, whether or not its length was announced",
        arguments: [true, false])
    func size(saysLength: Bool) async throws {
        let server = try LoopbackServer()
        let body = String(repeating: "x", count: Outbound.longestBody + 1)
        server.answer(body, headers: saysLength ? ["Content-Length: \(body.utf8.count)"] : [])
        await #expect(throws: OutboundError.tooLarge(longest: Outbound.longestBody)) {
            try await local.get(server.address)
        }
        #expect(try await local.get(server.address, limit: body.utf8.count).body.count == body.utf8.count)
    }

    @Test("An outbound request whose answer does not end is given up as timed out")
    func time() async throws {
        let server = try LoopbackServer()
        server.answer("{", headers: ["Content-Length: 2"], hangsUp: false)
        let local = Outbound(policy: Self.loopback(longestWait: .milliseconds(100)), logger: Self.logger)
        // The server never ends it: only giving up can end this test.
        await #expect(throws: OutboundError.timedOut) { try await local.get(server.address) }
    }

    @Test("An outbound fetch reports a server that does not listen, has no TLS or breaks off as unreachable")
    func unreachable() async throws {
        let server = try LoopbackServer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{")
        await #expect(throws: OutboundError.unreachable) { try await local.get(server.address) }
        await #expect(throws: OutboundError.unreachable) { try await local.get("https://127.0.0.1:\(server.port)/") }
        let port = server.port
        server.stop()
        await #expect(throws: OutboundError.unreachable) { try await local.get("http://127.0.0.1:\(port)/") }
    }

    /// Holds requests until it is opened.
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

    @Test("Outbound fetches at once are limited for each client, and for each purpose over all clients")
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
            // Another purpose has its own bound.
            try await quota.ask(for: .keys, by: "1") {}
            gate.open()
            try await group.waitForAll()
        }
        #expect(quota.underWay == 0)
        try await quota.ask(for: .sector, by: "5") {}
    }

    @Test("An outbound request that fails or is cancelled frees its place among those under way")
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

    @Test("Too frequent outbound fetches for one client are refused until time has passed, others' are not")
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
        // After a clock was set back, a client is kept out for one full interval at most.
        clock.advance(by: .days(-1))
        clock.advance(by: .minutes(5))
        try await quota.ask(for: .sector, by: "a") {}
    }

    @Test("Outbound fetches for thirty thousand clients together keep to the rate for all clients")
    func askers() async throws {
        let quota = OutboundQuota(clock: ManualClock())
        var answered = 0
        for number in 1...30_000 where (try? await quota.ask(for: .requestObject, by: "\(number)") {}) != nil {
            answered += 1
        }
        #expect(answered == 24_000)
    }

    @Test("A browser can use up its own share of the fetches made for a client, and not other browsers'")
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

    @Test("One IPv6 site has a limited share of a client's request object fetches; other sites have their own")
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
        "A merchant whose sixty key set fetches hang takes neither places nor rate of other merchants",
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

    @Test("A merchant's clients together have at most 64 fetches of request objects at once")
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

    @Test("A merchant with a thousand clients does not use up all merchants' fetches of request objects")
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

    @Test("Fetches of request objects that one browser causes have a rate limit across all clients")
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

    @Test("Outbound deliveries to other servers have no rate limit")
    func unbounded() async throws {
        let quota = OutboundQuota(clock: ManualClock())
        for _ in 1...2000 { try await quota.ask(for: .delivery, by: "client.example") {} }
    }

    @Test("Each outbound request to a server that does not answer in time is given up as timed out")
    func timeOut() async throws {
        let silent = try LocalListener { _ in nil }
        defer { silent.stop() }
        let policy = OutboundPolicy(
            allowedPrivateRanges: ["127.0.0.1"].compactMap { CIDR($0) }, longestWait: .milliseconds(50))
        let outbound = Outbound(policy: policy, logger: .silent).asking(for: .sector, by: "a")
        // More than may be under way for one client at once: each that timed out has freed its place.
        for _ in 1...12 {
            await #expect(throws: OutboundError.timedOut) {
                try await outbound.get("http://127.0.0.1:\(silent.port)/")
            }
        }
    }
}

@Suite("Ranges of IP addresses") struct CIDRTests {
    @Test(
        "A range of IP addresses contains its addresses and no others",
        arguments: [
            ("10.0.0.0/8", "10.255.255.255", "11.0.0.0"), ("192.0.2.1", "192.0.2.1", "192.0.2.2"),
            ("0.0.0.0/0", "255.1.2.3", "::1"), ("172.16.0.0/12", "172.31.255.255", "172.32.0.0"),
            ("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::"), ("::/0", "fe80::1", "10.0.0.1"),
            ("::ffff:10.0.0.0/104", "10.9.8.7", "11.0.0.1"), ("10.0.0.0/8", "::ffff:10.0.0.1", "::10.0.0.1"),
        ])
    func contains(range: String, inside: String, outside: String) throws {
        let range = try #require(CIDR(range))
        #expect(range.contains(try #require(IPAddress(inside))))
        #expect(!range.contains(try #require(IPAddress(outside))))
    }

    @Test(
        "Text that is no range of IP addresses is refused",
        arguments: [
            "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08", "10.0.0.1/8", "10.0.0/8",
            "10.0.0.0/8/8", "2001:db8::1/64", "::/129", "[::1]", "::ffff:10.0.0.0/95", "localhost", " 10.0.0.0/8",
        ])
    func malformed(_ text: String) { #expect(CIDR(text) == nil) }

    @Test(
        "A public IP address is recognized as public",
        arguments: ["1.1.1.1", "100.128.0.1", "172.32.0.1", "2606:4700::1111", "64:ff9b::1.1.1.1", "::ffff:1.1.1.1"])
    func isPublic(_ text: String) throws { #expect(try #require(IPAddress(text)).isPublic) }

    @Test(
        "A subscriber is an IPv4 address, also in NAT64 or mapped form, or else an IPv6 address's /64",
        arguments: [
            ("64:ff9b::cb00:7107", "203.0.113.7"), ("64:ff9b::203.0.113.7", "203.0.113.7"),
            ("::ffff:203.0.113.7", "203.0.113.7"), ("64:ff9b:1::cb00:7107", "64:ff9b:1::/64"),
            ("2001:db8:1:2:3:4:cb00:7107", "2001:db8:1:2::/64"),
        ])
    func subscriber(text: String, network: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.subscriber == network)
    }

    @Test("IP addresses and ranges are written in one normal form, whatever form they were read in")
    func description() {
        #expect(IPAddress("::ffff:192.0.2.1")?.description == "192.0.2.1")
        #expect(IPAddress("2001:DB8:0::1")?.description == "2001:db8::1")
        #expect(CIDR("10.0.0.0/8")?.description == "10.0.0.0/8")
        #expect(CIDR("::1")?.description == "::1/128")
    }
}
