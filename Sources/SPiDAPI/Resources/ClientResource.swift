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
                .get, "clients", name: "List clients", controller: "Client.clients", token: .client, answer: list),
            SPiDRoute(
                .get, "client/{id}", name: "Get client", controller: "Client.client", token: .client, answer: one),
        ]
    }

    @Sendable private func list(_ call: SPiDCall) async throws -> SPiDAnswer {
        let clients = try await clients.sharing(merchantOf: try call.caller.contextClient)
        return .element("Client", .object(clients.map { JSON.Member($0.id.text, $0.spid) }))
    }

    @Sendable private func one(_ call: SPiDCall) async throws -> SPiDAnswer {
        let client = try call.caller.known(try await clients.findLive(Client.ID(call.path["id"] ?? "")))
        return .element("Client", client.spid)
    }
}

extension Client {
    /// In SPiD's members, whose values are texts. What Spindle does not have is off or empty.
    fileprivate var spid: JSON {
        .members([
            "id": .string(id.text), "name": .string(name), "domain": .string(webOrigins.first ?? ""),
            "redirectUris": .array(redirectURIs.map { .string($0.text) }),
            "accessTokenLifetime": .string(String(accessTokenLifetime.seconds)), "fields": .object([]),
            "autoApprove": .string(firstParty ? "1" : "0"), "enableSso": "0", "universalDataAccess": "0",
            "unregisteredPayments": "0",
        ])
    }
}
