import Directory
import Storage
import Values

/// Signs in, in an app, by a code sent to the user's verified phone number.
struct PhoneSignIn: Sendable {
    let database: any Database
    let verifications: Verifications
    let clock: any WallClock

    /// The user that a code for `phone` would sign in, if there is one.
    func user(of phone: PhoneNumber) async throws -> UserID? {
        try await database.read { db in
            guard let user = try User.find(phone, in: db), user.disabledAt == nil else { return nil }
            return user.id
        }
    }

    /// Takes a code that was typed in an app, as `MailSignIn.prove` does.
    func prove(
        _ key: VerificationKey, by client: Client, login: Login.Attempt
    ) async throws -> Result<MailSignIn.Proof, Verification.Refusal> {
        let now = clock.now
        let place = KnownDevices.Place(address: login.address, device: nil)
        return try await database.write { [verifications] db in
            let verification: Verification
            let taken = try verifications.takeSignIn(
                key, .signInByPhone, at: place, by: client, attempt: login.id.text, in: db)
            switch taken {
            case .failure(let refusal): return .failure(refusal)
            case .success(let taken): verification = taken
            }
            // The code proves the number, if it is still the user's.
            guard let phone = verification.phone, let user = try User.find(phone, in: db), user.id == verification.user,
                user.disabledAt == nil
            else { return .failure(.gone(reason: "user_gone_or_changed")) }
            guard user.deletionDueAt == nil else { return .failure(.gone(reason: "deletion_pending")) }
            try Logins.record(login, of: user.id, succeeded: true, at: now, in: db)
            try KnownDevices.remember(place, of: user.id, at: now, in: db)
            let row = try db.rows("SELECT password_hash FROM users WHERE id = \(user.id)").first
            return .success(
                MailSignIn.Proof(
                    user: user.id, method: .text, isVerified: user.emailVerified,
                    hash: try row?.get("password_hash", as: String?.self), phone: phone, email: nil))
        }
    }
}
