import JSON
package import Values

// Two tabs of a browser app share one stored refresh token and take no lock, so they may refresh with it one after the
// other. For some seconds after its rotation, the second use therefore gets what the first one got.

extension Client {
    /// How long a rotated refresh token stands for its successor, even once that is used. None for an app on a device,
    /// which refreshes in one place, nor for a client with a secret.
    public var refreshLeeway: Duration {
        guard Self.isBrowserApp(kind, redirectURIs, openID) else { return .zero }
        return chosenRefreshLeeway ?? .seconds(10)
    }

    package static let longestRefreshLeeway: Duration = .seconds(60)

    /// Whether the leeway still applies at `now` for a token rotated at `rotatedAt`.
    package func isInRefreshLeeway(_ now: Timestamp, of rotatedAt: Timestamp) -> Bool {
        // First, because nearly every rotation is older, and every refresh asks this.
        guard now - rotatedAt <= Self.longestRefreshLeeway else { return false }
        let leeway = refreshLeeway
        return leeway > .zero && now - rotatedAt <= leeway
    }

    /// Whether its codes go to web pages only. An app on a device may claim an https address too (RFC 8252 §7.2);
    /// `application_type` tells them apart.
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

    /// A stored leeway has no effect while the client is of another kind: its redirect URIs may change.
    func checkRefreshLeeway(_ members: JSONMembers) throws(JSONFault) {
        guard let leeway = try Self.refreshLeeway(members), leeway > .zero,
            !Client.isBrowserApp(kind, redirectURIs, openID)
        else { return }
        throw JSONFault(
            "refresh_leeway",
            "0, except for a client without a secret whose redirect URIs are all https and none on the user's device")
    }
}
