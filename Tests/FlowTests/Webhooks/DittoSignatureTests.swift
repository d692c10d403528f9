import Cryptography
import Foundation
import JSON
import TestSupport
import Testing
import Values

@Suite("Ditto signs its requests")
struct DittoSignatureTests {
    /// 128 bytes, from 0 up and from 255 down, as Ditto's portal shows a secret.
    private static let first = Data((0..<128).map { UInt8($0) }).base64EncodedString()
    private static let second = Data((0..<128).map { UInt8(255 - $0) }).base64EncodedString()
    /// Signed with Python's hmac at the second at which the clock of the tests stands.
    private static let body = #"{"appID":"app","provider":"my-auth","token":"nobody"}"#
    private static let time = "1800000000"
    private static let byFirst = "c3c040a5bfdd86841e58fcd83dc8d45dbde52ccb017cef76a2e7ace9f2b37c8f"
    private static let bySecond = "09d83b3b07882aa9f3ccfc7c210b827fa404e3842678c6018a43f5a154c0d032"

    private static func header(_ signatures: String..., time: String = time) -> String {
        (["t=\(time)"] + signatures.map { "v1=\($0)" }).joined(separator: ",")
    }

    private static func signed(_ body: String, at seconds: Int64, with secret: String) throws -> String {
        let key = try #require(Data(base64Encoded: secret))
        let signature = Digest.hmacSHA256(Array("\(seconds).\(body)".utf8), key: Array(key))
        return header(signature.map { String(format: "%02x", $0) }.joined(), time: "\(seconds)")
    }

    /// The signature was valid, and the token is refused.
    private func expectHeard(_ answer: Answer, sourceLocation: SourceLocation = #_sourceLocation) {
        expectRefused(answer, sourceLocation: sourceLocation)
    }

    private func expectForged(_ answer: Answer, sourceLocation: SourceLocation = #_sourceLocation) {
        expectRefused(answer, "invalid_client", status: 401, sourceLocation: sourceLocation)
        #expect(answer.header("www-authenticate") == "Ditto-Signature", sourceLocation: sourceLocation)
    }

    @Test(
        "Ditto's request is refused unless its signature is right for the body, the time and a webhook secret",
        arguments: Backend.available)
    func vectors(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world, ["secrets": [.string(Self.first)]])
            expectHeard(try await ditto.send(Self.body, signature: Self.header(Self.byFirst)))
            expectHeard(try await ditto.send(Self.body, signature: Self.header(Self.byFirst.uppercased())))
            expectHeard(
                try await ditto.send(
                    Self.body, signature: "v0=00, t=\(Self.time), v1=\(Self.bySecond), v1=\(Self.byFirst)"))
            expectForged(try await ditto.send(Self.body))
            expectForged(try await ditto.send(Self.body, signature: Self.header(Self.bySecond)))
            expectForged(try await ditto.send(Self.body + " ", signature: Self.header(Self.byFirst)))
            expectForged(try await ditto.send("not JSON", signature: Self.header(Self.byFirst)))
            expectForged(try await ditto.send(Self.body, signature: Self.header(Self.byFirst, time: "1800000001")))
            #expect(world.server.log.says("ditto_unsigned"))
            #expect(world.server.log.says("ditto_signature_wrong"))
        }
    }

    @Test("A validly signed request of Ditto admits the user of its token", arguments: Backend.available)
    func admitted(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world, ["secrets": [.string(Self.first)]])
            let body = DittoStory.body(try await ditto.token())
            let signature = try Self.signed(body, at: world.server.clock.now.seconds, with: Self.first)
            expectAdmitted(try await ditto.send(body, signature: signature), as: world.user)
            let other = DittoStory.body(try await ditto.token())
            expectForged(try await ditto.send(other, signature: signature))
        }
    }

    @Test("Malformed signature headers of Ditto are refused", arguments: Backend.available)
    func malformed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world, ["secrets": [.string(Self.first)]])
            for header in [
                "", ",", "t=\(Self.time)", "v1=\(Self.byFirst)", Self.byFirst, "t=,v1=\(Self.byFirst)",
                "t=+\(Self.time),v1=\(Self.byFirst)", "t=-1,v1=\(Self.byFirst)", "t=1e9,v1=\(Self.byFirst)",
                "t=\(String(repeating: "9", count: 40)),v1=\(Self.byFirst)",
                "t=\(Self.time),t=\(Self.time),v1=\(Self.byFirst)", "t=\(Self.time),v1=",
                "t=\(Self.time),v1=\(Self.byFirst)00", "t=\(Self.time),v1=\(Self.byFirst.dropLast())",
                "t=\(Self.time),v1=\(Self.byFirst.dropLast())g", "t=\(Self.time),v1=\(Self.byFirst),",
            ] {
                expectForged(try await ditto.send(Self.body, signature: header))
            }
            #expect(world.server.log.says("ditto_signature_malformed"))
        }
    }

    @Test(
        "A signature of Ditto is accepted up to 300 seconds before and after the time that it states",
        arguments: Backend.available)
    func skew(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world, ["secrets": [.string(Self.first)]])
            let now = world.server.clock.now.seconds
            for (offset, isHeard) in [(-301, false), (-300, true), (300, true), (301, false)] as [(Int64, Bool)] {
                let signature = try Self.signed(Self.body, at: now + offset, with: Self.first)
                let answer = try await ditto.send(Self.body, signature: signature)
                if isHeard { expectHeard(answer) } else { expectForged(answer) }
            }
            // A replayed request gets the same answer until it is too old.
            let signature = try Self.signed(Self.body, at: now, with: Self.first)
            for _ in 1...2 { expectHeard(try await ditto.send(Self.body, signature: signature)) }
            world.server.clock.advance(by: .seconds(301))
            expectForged(try await ditto.send(Self.body, signature: signature))
            #expect(world.server.log.says("ditto_signature_stale"))
        }
    }

    @Test(
        "A webhook accepts signatures by either of two secrets; without secrets it requires no signature",
        arguments: Backend.available)
    func rotation(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world, ["secrets": [.string(Self.first)]])
            let (old, new) = (Self.header(Self.byFirst), Self.header(Self.bySecond))
            let both = Self.header(Self.byFirst, Self.bySecond)
            try await ditto.change(["secrets": [.string(Self.first), .string(Self.second)]])
            for header in [old, new, both] { expectHeard(try await ditto.send(Self.body, signature: header)) }
            try await ditto.change(["secrets": [.string(Self.second)]])
            expectForged(try await ditto.send(Self.body, signature: old))
            for header in [new, both] { expectHeard(try await ditto.send(Self.body, signature: header)) }
            // Other changes leave the secrets alone.
            try await ditto.change(["expiration_seconds": 60])
            expectForged(try await ditto.send(Self.body))
            #expect(try await ditto.change(["secrets": .null]).json["signed"] == false)
            expectHeard(try await ditto.send(Self.body))
        }
    }

    @Test("A request of Ditto with two signature headers is refused", arguments: Backend.available)
    func twoHeaders(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world, ["secrets": [.string(Self.first)]])
            let good = Self.header(Self.byFirst)
            let answer = try await world.server.send(
                "POST", "/webhooks/ditto/\(ditto.name)", body: Array(Self.body.utf8),
                headers: ["ditto-signature": good, "Ditto-Signature": good])
            expectForged(answer)
        }
    }
}
