package import Directory
package import Values

extension AccessToken {
    /// A client's own token for a single request of `client`, which has just authenticated. It is not stored, so it can
    /// be neither presented nor revoked.
    package static func own(of client: Client, at now: Timestamp) -> AccessToken {
        AccessToken(
            fingerprint: Secret<AccessToken>("").fingerprint, family: nil, path: nil, client: client.id,
            clientKind: client.kind, user: nil, keptSubject: nil, scope: client.scope.byDefault, resource: nil,
            isOfFrontChannel: false,
            clientScope: client.scope, issuedAt: now, expiresAt: now + client.renewableTokenLifetime, signedInAt: now)
    }
}
