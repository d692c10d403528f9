public import Directory
import HTTP
import JSON
import OAuth
import SPiD
import Values

/// `clients` and `client/{id}`: what a merchant's backend may see of the merchant's clients.
public struct ClientResource: SPiDResource {
    private let clients: Clients

    public init(clients: Clients) { self.clients = clients }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .get, "clients", name: "List clients", controller: "Client.clients", token: .client,
                optional: ["limit", "offset"], answer: list),
            SPiDRoute(
                .get, "client/{id}", name: "Get client", controller: "Client.client", token: .client, answer: one),
        ]
    }

    @Sendable private func list(_ call: SPiDCall) async throws -> SPiDAnswer {
        let client = try call.caller.contextClient
        var part = try call.part()
        let end = part.offset + part.limit
        var found: [JSON.Member] = []
        var size = 0
        while part.offset < end, size < Self.mostBytes {
            part.limit = min(Self.readAtOnce, end - part.offset)
            let some = try await clients.sharing(merchantOf: client, part)
            for one in some where size < Self.mostBytes {
                let json = one.inSPiD
                size += json.bytes.count
                found.append(JSON.Member(one.id.text, json))
            }
            guard some.count == part.limit else { break }
            part.offset += some.count
        }
        return .element("Client", .object(found))
    }

    /// In bytes: the list ends early when it is this large. A client may have 64 KB of addresses.
    private static let mostBytes = 256 * 1024
    private static let readAtOnce = 50

    @Sendable private func one(_ call: SPiDCall) async throws -> SPiDAnswer {
        let client = try call.caller.known(try await clients.findLive(Client.ID(call.path["id"] ?? "")))
        return .element("Client", client.inSPiD)
    }
}

extension Client {
    /// What it asks its users for, each true. The SDKs know a name as one.
    private var fields: [JSON.Member] {
        let names: [SPiDSettings.Field: String] = [
            .givenName: "names", .familyName: "names", .birthday: "birthday", .displayName: "displayName",
            .phoneNumber: "phoneNumber",
        ]
        return Set(spid.requiredFields.compactMap { names[$0] }).sorted().map { JSON.Member($0, true) }
    }

    /// In SPiD's members, whose values are texts. What Spindle does not have is off or empty.
    fileprivate var inSPiD: JSON {
        .members([
            "id": .string(id.text), "name": .string(name), "domain": .string(webOrigins.first ?? ""),
            "redirectUris": .array(redirectURIs.map { .string($0.text) }),
            "accessTokenLifetime": .string(String(accessTokenLifetime.seconds)), "fields": .object(fields),
            "autoApprove": .string(firstParty ? "1" : "0"), "enableSso": "0", "universalDataAccess": "0",
            "unregisteredPayments": "0",
        ])
    }
}
