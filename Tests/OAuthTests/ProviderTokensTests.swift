import JSON
import Logging
import OAuth
import Outbound
import TestSupport
import Testing
import Values
@testable import Federation

@Suite("Providers that are slow, silent or gone") struct ProviderTokensTests {
    private func reason(_ address: String, longestWait: Duration) async -> String? {
        let policy = OutboundPolicy(
            allowedPrivateRanges: ["127.0.0.1"].compactMap { CIDR($0) }, longestWait: longestWait)
        let interface = ProviderInterface(
            provider: .google, address: address, outbound: Outbound(policy: policy, logger: Logger.silent))
        do throws(OAuthError) {
            _ = try await interface.ask(
                "/tokeninfo", ["access_token": "secret"], by: .init(merchant: "merchant", client: "client"))
            return nil
        } catch {
            #expect(error.code == .temporarilyUnavailable && error.retryAfter != nil)
            #expect(!"\(error)".contains("secret"))
            return error.reason
        }
    }

    @Test("A provider that does not answer is given up")
    func silent() async throws {
        let server = try LocalListener { _ in nil }
        let address = "http://127.0.0.1:\(server.port)"
        #expect(await reason(address, longestWait: .milliseconds(200)) == "provider_unavailable")
    }

    @Test("A provider that is unreachable, or at a forbidden address, is reported as unavailable")
    func gone() async throws {
        let server = try LocalListener { _ in [] }
        let address = "http://127.0.0.1:\(server.port)"
        #expect(await reason(address, longestWait: .seconds(60)) == "provider_unavailable")
        server.stop()
        #expect(await reason(address, longestWait: .seconds(60)) == "provider_unavailable")
        #expect(await reason("http://192.0.2.1", longestWait: .seconds(60)) == "provider_unavailable")
    }

    @Test("Google's tokens and users are looked up at two hosts, a gateway's at one")
    func addresses() {
        let google = ProviderAddresses(facebook: "", google: "https://oauth2.googleapis.com")
        #expect(google.googleTokens == "https://oauth2.googleapis.com")
        #expect(google.googlePeople == "https://openidconnect.googleapis.com/v1")
        let gateway = ProviderAddresses(facebook: "", google: "https://gateway.example")
        #expect(gateway.googlePeople == "https://gateway.example")
    }

    @Test("A provider's user name that is too long, or not text, is left out")
    func names() {
        var person = ProviderUser()
        person.take("name", .string(String(repeating: "n", count: 201)))
        person.take("given_name", "A\nB")
        person.take("family_name", 7)
        #expect(person.profile.isEmpty)
        person.take("name", "Ada")
        #expect(person.profile == [.init("name", "Ada")])
    }

    @Test("A provider's user id is accepted only if it can be stored")
    func subjects() {
        #expect(ProviderInterface.subject("10215241773831025") == "10215241773831025")
        #expect(ProviderInterface.subject(10_215_241_773_831_025) == "10215241773831025")
        for json: JSON? in [nil, "", "a b", .string(String(repeating: "1", count: 256)), true, "é"] {
            #expect(ProviderInterface.subject(json) == nil)
        }
    }
}
