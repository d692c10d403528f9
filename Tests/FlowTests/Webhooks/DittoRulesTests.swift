import Directory
import Foundation
import JSON
import Storage
import TestSupport
import Testing
import Values

@testable import Ditto

@Suite("The rules of Ditto's webhooks are read when they are needed, and kept")
struct DittoRulesTests {
    private let document = JSON.members(["permissions": DittoStory.permissions]).text

    @Test("who asks at all webhooks of a merchant in turn pushes out no other merchant's rules")
    func shares() throws {
        let parsed = ParsedRules()
        let (large, small) = (Merchant.ID("large"), Merchant.ID("small"))
        _ = try parsed.rules(of: document, for: "other", of: small)
        for round in 1...2 {
            for number in 1...200 {
                _ = try parsed.rules(of: document, for: DittoWebhook.ID("\(number)"), of: large)
                #expect(parsed.has("other"), "\(round) \(number)")
            }
        }
        // The least recently used gave way.
        #expect(parsed.has("200") && parsed.has("74") && !parsed.has("73"))
    }

    @Test("the rules of as many webhooks as a merchant makes are read once")
    func fits() throws {
        let parsed = ParsedRules()
        let ids = (1...100).map { DittoWebhook.ID("\($0)") }
        for id in ids { _ = try parsed.rules(of: document, for: id, of: Merchant.ID("a")) }
        #expect(ids.allSatisfy(parsed.has))
    }

    @Test("a document that has changed is read anew")
    func changed() throws {
        let parsed = ParsedRules()
        let strict = JSON.members(["permissions": DittoStory.permissions, "refusal_status": 403]).text
        #expect(try parsed.rules(of: document, for: "a", of: Merchant.ID("m")).refusalStatus == 200)
        #expect(try parsed.rules(of: strict, for: "a", of: Merchant.ID("m")).refusalStatus == 403)
    }

    @Test(
        "the rules are not read for a request without Ditto's signature, nor for one that Ditto does not send",
        arguments: Backend.available)
    func unread(backend: Backend) async throws {
        try await World.with(backend) { world in
            let secret = Data((0..<128).map { UInt8($0) }).base64EncodedString()
            let ditto = try await DittoStory(world, ["secrets": [.string(secret)]])
            let open = try await DittoStory(world, ["name": "open"])
            _ = try await world.server.database.write { try $0.execute("UPDATE webhooks SET document = '{}'") }
            let zeros = String(repeating: "0", count: 64)
            let forged = try await ditto.ask(try await ditto.token(), signature: "t=1800000000,v1=\(zeros)")
            #expect(forged.status == 401, "\(forged)")
            #expect(try await open.send("not JSON").status == 400)
            // What it answers to others stands in the rules.
            #expect(try await open.ask(try await open.token()).status == 500)
        }
    }
}
