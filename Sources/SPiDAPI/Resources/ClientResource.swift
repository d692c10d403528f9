public import Directory
import HTTP
import JSON
import OAuth
import SPiD
import Values

/// `clients` and `client/{id}`: what a merchant's backend may see of the merchant's clients.
public struct ClientResource: SPiDResource {
    private let clients: Clients
    private let merchants: Merchants

    public init(clients: Clients, merchants: Merchants) {
        self.clients = clients
        self.merchants = merchants
    }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .get, "clients", name: "List clients", controller: "Client.clients", token: .client,
                isForApps: true, optional: ["limit", "offset"], answer: list),
            SPiDRoute(
                .get, "client/{id}", name: "Get client", controller: "Client.client", token: .client,
                isForApps: true, answer: one),
        ]
    }

    @Sendable private func list(_ call: SPiDCall) async throws -> SPiDAnswer {
        let client = try call.caller.contextClient
        let merchant = try await merchant(of: client)
        var part = try call.part()
        guard try call.caller.client.may(.shareWithMerchant) else {
            let own =
                part.offset == 0 && part.limit > 0 ? [JSON.Member(client.id.text, client.spidJSON(of: merchant))] : []
            return .element("Client", .object(own))
        }
        let end = part.offset + part.limit
        var found: [JSON.Member] = []
        var size = 0
        while part.offset < end, size < Self.mostBytes {
            part.limit = min(Self.readAtOnce, end - part.offset)
            let some = try await clients.sharing(merchantOf: client, part)
            for one in some where size < Self.mostBytes {
                let json = one.spidJSON(of: merchant)
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
        return .element("Client", client.spidJSON(of: try await merchant(of: client)))
    }

    private func merchant(of client: Client) async throws -> Merchant? {
        guard let id = client.merchant else { return nil }
        return try await merchants.find(id)
    }
}

extension Client {
    /// The client in SPiD's members, whose values are texts. What Spindle does not have is off or empty.
    func spidJSON(of merchant: Merchant?) -> JSON {
        let merchantID = merchant?.number ?? 0
        let own: [JSON.Member] = [
            .init("id", .string(id.text)), .init("name", .string(name)), .init("alias", ""),
            .init("domain", .string(webOrigins.first ?? "")), .init("merchantId", .integer(merchantID)),
            .init("merchant", Self.spidJSON(merchant)),
        ]
        let settings: [JSON.Member] = [
            .init("redirectUris", .array(redirectURIs.map { .string($0.text) })),
            .init("accessTokenLifetime", .string(String(accessTokenLifetime.seconds))),
            .init("fields", .object(fields)), .init("css", .object([])), .init("termsCss", .object([])),
            .init("autoApprove", .string(may(.skipConsent) ? "1" : "0")), .init("enableSso", "0"),
            .init("universalDataAccess", "0"), .init("unregisteredPayments", "0"),
        ]
        return .object(own + settings)
    }

    /// The fields that it asks its users for, each true. The SDKs know a name as one field.
    private var fields: [JSON.Member] {
        let names: [SPiDSettings.Field: String] = [
            .givenName: "names", .familyName: "names", .birthday: "birthday", .displayName: "displayName",
            .phoneNumber: "phoneNumber",
        ]
        return Set(spid.requiredFields.compactMap { names[$0] }).sorted().map { JSON.Member($0, true) }
    }

    /// Apps show other terms for a merchant of the platform itself, which here needs no introduction to users.
    private static func spidJSON(_ merchant: Merchant?) -> JSON {
        .members([
            "name": .string(merchant?.name ?? ""), "locale": "", "providerId": "",
            "logo": .string(merchant?.logoURI ?? ""),
            "type": merchant?.skipsIntroduction == true ? "internal" : "external",
        ])
    }
}
