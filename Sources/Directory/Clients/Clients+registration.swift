package import Storage
package import Values

/// Clients that registered themselves (RFC 7591) and hold a token to change their registration.
extension Clients {
    package static func setRegistrationToken<Of>(
        _ token: Fingerprint<Of>, of id: Client.ID, in db: any Transaction
    ) throws {
        try db.execute("UPDATE clients SET registration_token = \(token) WHERE id = \(id)")
    }

    /// Disables the client if `token` is still its own. Running it again with the same `now` returns true again.
    package static func disable<Of>(
        _ id: Client.ID, holding token: Fingerprint<Of>, at now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        try db.execute(
            """
            UPDATE clients SET disabled_at = \(now)
            WHERE id = \(id) AND registration_token = \(token) AND (disabled_at IS NULL OR disabled_at = \(now))
            """) == 1
    }
}
