import JSON

/// What a webhook sends besides permissions, the same for all users. It never contains data about a user: Ditto shows
/// the metadata of one peer to all others.
struct DittoConstants: Sendable {
    private static let most = 4096

    /// Ditto passes it to the app.
    let clientInfo: JSON?
    /// Ditto signs it and shows it to every peer.
    let metadata: JSON?

    init(_ members: JSONMembers, over base: DittoConstants?) throws(JSONFault) {
        clientInfo = try Self.object("client_info", members, over: base?.clientInfo)
        metadata = try Self.object("identity_service_metadata", members, over: base?.metadata)
    }

    private static func object(_ name: String, _ members: JSONMembers, over base: JSON?) throws(JSONFault) -> JSON? {
        guard members.has(name) else { return base }
        guard let json = members.any(name) else { return nil }
        guard json.members != nil, json.text.utf8.count <= most else {
            throw JSONFault(name, "an object of at most \(most) bytes")
        }
        return json
    }
}
