public import Directory
public import Storage
public import Values

extension Sessions {
    /// Opens a session in the caller's transaction and replaces the browser's previous one. Stores the device and
    /// address as known, except for a bought session, which proves nothing, and for one that is good at a single
    /// merchant. Also stores a login, except for a password, whose login was stored when the password was checked.
    public static func open(
        _ opening: Session.Opening, user: UserID, replacing old: Session.ID?, at now: Timestamp,
        in db: any Transaction, _ announcement: UserEvents.Announcement
    ) throws {
        try begin(opening, user: user, replacing: old, at: now, in: db, announcement)
        let isBought = opening.purchase != nil
        if isBought || opening.method != .password {
            try Logins.record(opening.login(isBought ? .auto : .normal), of: user, succeeded: true, at: now, in: db)
        }
        guard !isBought else { return }
        try opening.work?(user, now, db)
        // Otherwise a merchant could make any place known, and so lift the limits on guessing.
        guard opening.assertedBy?.isConfined != true else { return }
        try KnownDevices.remember(
            KnownDevices.Place(address: opening.address, device: opening.device), of: user, at: now, in: db)
    }

    /// Opens a session for a user with a proof. False when a new password has voided the proof since.
    public func open(
        _ opening: Session.Opening, by proof: PasswordSignIn.Proof, replacing old: Session.ID?
    ) async throws -> Bool {
        let now = clock.now
        return try await events.write(to: database, at: now) { db, announcement in
            guard try proof.holds(in: db) else { return false }
            try Self.open(
                opening, user: proof.user, replacing: old, at: now, in: db, announcement)
            return true
        }
    }
}

extension Verification {
    /// The outcome when a browser sends the same secret again: the same, while the session that it opened lives. After
    /// a sign-out or a new password an old form does not sign in.
    func again(
        _ opening: Session.Opening, replacing old: Session.ID?, at now: Timestamp, in db: any Transaction
    ) throws -> Result<Verification, Refusal> {
        try Sessions.isOpen(opening, beside: old, at: now, in: db)
            ? .success(self) : .failure(.gone(reason: "outcome_over"))
    }
}

extension Session {
    /// Whether the user signed in here, and has not been signed out meanwhile. Asked in the transaction that takes a
    /// code for the user's address or number, because a bought or asserted session does not prove that the user is
    /// present.
    func isLiveSignIn(in db: any Transaction) throws -> Bool {
        guard origin == .signIn else { return false }
        return try Sessions.isLive(self, in: db)
    }
}

extension Session.Opening {
    /// The login of this session, with the same id.
    func login(_ kind: Login.Kind) -> Login.Attempt {
        Login.Attempt(
            id: Login.ID(id.text), client: client, kind: assertedBy == nil ? kind : .thirdParty,
            provider: assertedBy?.name,
            address: address, userAgent: userAgent)
    }
}
