public import Directory
import JSON
public import Values

/// A client that an imported user used in the other system, and what they allowed it.
public struct ImportedConsent: Sendable {
    public let client: Client.ID
    /// Empty for a client that asks for no consent.
    public let scope: Scope
    public let at: Timestamp

    static func list(_ members: JSONMembers, at now: Timestamp) throws(JSONFault) -> [ImportedConsent] {
        let fault = JSONFault("consents", "at most 100 objects of client_id, and perhaps scope and created")
        guard let value = members.any("consents") else { return [] }
        guard let list = value.array, list.count <= 100 else { throw fault }
        var consents: [ImportedConsent] = []
        for json in list {
            let names = Set((json.members ?? []).map(\.name))
            guard names.isSubset(of: ["client_id", "scope", "created"]), let client = json["client_id"]?.string,
                (1...200).contains(client.utf8.count), !client.utf8.contains(0),
                let scope = (json["scope"] ?? "").string, scope.utf8.count <= 2000,
                let seconds = (json["created"] ?? .integer(now.seconds)).integer, (0...now.seconds).contains(seconds),
                !consents.contains(where: { $0.client.text == client })
            else { throw fault }
            guard let allowed = scope.isEmpty ? Scope.empty : Scope(parsing: scope) else { throw fault }
            consents.append(
                ImportedConsent(
                    client: Client.ID(client), scope: allowed, at: Timestamp(milliseconds: seconds * 1000)))
        }
        return consents
    }
}
