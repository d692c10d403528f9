public import Directory
public import Storage
public import Values

extension Sessions {
    /// Opens a session in the caller's transaction, in place of the one the browser had. Where somebody signed in is
    /// remembered; a session that was bought shows nothing. Each is a login too, but for that by a password, which was one
    /// when the password was looked at.
    public static func open(
        _ opening: Session.Opening, user: UserID, signedInAt: Timestamp, boughtBy family: TokenFamily.ID? = nil,
        replacing old: Session.ID?, at now: Timestamp, in db: any Transaction,
        _ announcement: UserEvents.Announcement
    ) throws {
        try begin(
            opening, user: user, signedInAt: signedInAt, boughtBy: family, replacing: old, at: now, in: db, announcement
        )
        if opening.method != .password {
            try Logins.record(
                opening.login(family == nil ? .normal : .auto), of: user, succeeded: true, at: now, in: db)
        }
        guard family == nil else { return }
        try opening.also?(user, now, db)
        try KnownDevices.remember(
            KnownDevices.Place(address: opening.address, device: opening.device), of: user, at: now, in: db)
    }

    /// Opens a session for who proved to be somebody. False when the proof has been overtaken since, by a new password.
    public func open(
        _ opening: Session.Opening, by proof: SignIn.Proof, replacing old: Session.ID?
    ) async throws -> Bool {
        let now = clock.now
        return try await news.write(to: database, at: now) { db, announcement in
            guard try proof.holds(in: db) else { return false }
            try Self.open(
                opening, user: proof.user, signedInAt: now, replacing: old, at: now, in: db,
                announcement)
            return true
        }
    }
}

extension Session.Opening {
    /// The login that a session is: it bears the same id.
    func login(_ kind: Login.Kind) -> Login.Attempt {
        Login.Attempt(
            id: Login.ID(id.text), client: client, kind: voucher == nil ? kind : .thirdParty, provider: voucher?.name,
            address: address, userAgent: userAgent)
    }
}
