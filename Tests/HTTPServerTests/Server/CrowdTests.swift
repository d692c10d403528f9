import Testing

@testable import HTTPServer

@Suite("Crowds of connections")
struct CrowdTests {
    @Test("An IPv6 site is a crowd with more than half of all connections, a single address with fewer")
    func site() throws {
        let others = (1...20).map { Network("192.0.2.\($0)") } + [Network("2001:db8:7::1"), nil]
        let ours = (0..<64).map { Network("2001:db8:1:\(String($0, radix: 16))::1") }
        let crowd = Crowd(of: ours + others)
        #expect(ours.compactMap(\.self).allSatisfy(crowd.contains))
        #expect(!others.compactMap(\.self).contains(where: crowd.contains))
        // Half of all is no crowd yet: many subscribers of a provider may be one site.
        let half = Crowd(of: ours.prefix(20) + others)
        #expect(!ours.compactMap(\.self).contains(where: half.contains))
        let one = Crowd(of: [Network?](repeating: Network("192.0.2.99"), count: 10) + others)
        #expect(one.contains(try #require(Network("192.0.2.99"))))
    }

    @Test("IPv4 clients that come through NAT64 count as one")
    func translated() {
        #expect(Network("64:ff9b::cb00:7107") == Network("203.0.113.7"))
        #expect(Network("64:ff9b::cb00:7107") != Network("64:ff9b::cb00:7108"))
        #expect(Network("64:ff9b:0:1::cb00:7107") != Network("203.0.113.7"))
    }
}
