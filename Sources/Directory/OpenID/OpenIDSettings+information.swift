import JSON

extension OpenIDSettings {
    private static let texts = ["software_id", "software_version"]
    /// Pages link to them, so they must be web addresses.
    private static let addresses = ["client_uri", "logo_uri", "policy_uri", "initiate_login_uri"]

    static let informationNames = texts + addresses + ["application_type", "contacts"]

    /// The client's descriptive members in `members`, over those in `base`.
    static func information(_ members: JSONMembers, over base: [JSON.Member]) throws(JSONFault) -> [JSON.Member] {
        var kept = base
        func keep(_ name: String, _ value: JSON?) {
            kept.removeAll { $0.name == name }
            if let value { kept.append(.init(name, value)) }
        }
        for name in texts where members.has(name) {
            keep(name, try members.text(name, most: 1000).map { .string($0) })
        }
        for name in addresses where members.has(name) {
            let address = try address(members, name)
            guard name != "logo_uri" || address.map(WebOrigin.isImage) ?? true else {
                throw JSONFault(name, "an https URL")
            }
            // Core §4: https is required even for a loopback host, where http is enough for the others.
            guard name != "initiate_login_uri" || address?.hasPrefix("https://") ?? true else {
                throw JSONFault(name, "an https URL")
            }
            keep(name, address.map { .string($0) })
        }
        if members.has("application_type") {
            let type = try members.text("application_type")
            guard type.map({ ["web", "native"].contains($0) }) ?? true else {
                throw JSONFault("application_type", "web or native")
            }
            keep("application_type", type.map { .string($0) })
        }
        if members.has("contacts") {
            let list = try members.list("contacts", most: 20)
            keep("contacts", list.map { .array($0.map { .string(String($0.prefix(300))) }) })
        }
        return kept
    }

    /// One of the addresses that the client gave as links for users.
    public func address(_ name: String) -> String? { information.first { $0.name == name }?.value.string }
}
