import JSON
package import Values

// Two tabs of a browser app have one stored refresh token, and may refresh with it one after the other: they take no
// lock. For some seconds after its rotation such a token is therefore good for what its first use gave.

extension Client {
    /// How long a rotated refresh token stands for its successor, whose use does not end that. None for an app on a
    /// device, which has one place that refreshes, nor for a client with a secret.
    public var refreshLeeway: Duration {
        guard Self.isBrowserApp(kind, redirectURIs, openID) else { return .zero }
        return chosenRefreshLeeway ?? .seconds(10)
    }

    package static let longestRefreshLeeway: Duration = .seconds(60)

    /// Whether that still counts at `now` for a token that was rotated at `rotatedAt`.
    package func isInRefreshLeeway(_ now: Timestamp, of rotatedAt: Timestamp) -> Bool {
        // First, because nearly every rotation is older, and this is asked at each.
        guard now - rotatedAt <= Self.longestRefreshLeeway else { return false }
        let leeway = refreshLeeway
        return leeway > .zero && now - rotatedAt <= leeway
    }

    /// Whether its codes go to web pages alone. An app on a device may claim an https address too (RFC 8252 §7.2),
    /// which `application_type` tells.
    fileprivate static func isBrowserApp(
        _ kind: ClientKind, _ redirectURIs: [RedirectURI], _ openID: OpenIDSettings
    ) -> Bool {
        kind.may(.refreshInTabs) && !redirectURIs.isEmpty && redirectURIs.allSatisfy(\.isOfSecureSite)
            && !openID.information.contains { $0.name == "application_type" && $0.value == "native" }
    }
}

extension ClientMetadata {
    static func refreshLeeway(_ members: JSONMembers) throws(JSONFault) -> Duration? {
        try members.seconds("refresh_leeway", within: 0...Client.longestRefreshLeeway.seconds)
    }

    /// One that is stored is of no effect while the client is another kind: its redirect URIs may change.
    func checkRefreshLeeway(_ members: JSONMembers) throws(JSONFault) {
        guard let leeway = try Self.refreshLeeway(members), leeway > .zero,
            !Client.isBrowserApp(kind, redirectURIs, openID)
        else { return }
        throw JSONFault(
            "refresh_leeway",
            "0, except for a client without a secret whose redirect URIs are all https and none on the user's device")
    }
}
