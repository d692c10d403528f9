import Audit
import Directory
import JSON
import Storage
import Values

/// A client that registers itself by a merchant's initial access token (RFC 7591).
struct Registrant: ClientAuthority {
    let initial: InitialAccessToken
    /// The token by which the client will manage its registration.
    let token: Fingerprint<RegistrationToken>
    let reservedNames: [String]?
    let isClientItself = true
    let lendsResources = false
    var actor: Actor { Actor(Party(.initialAccessToken, initial.id.text), of: initial.merchant.text) }

    /// Checks nothing: the initial access token is checked where its uses are counted.
    func confirm(in db: any Transaction) {}

    func permit(making client: Client, in db: any Transaction) throws {
        // After a COMMIT of unknown outcome it has been counted.
        guard try RegistrationHolder.token(of: client.id, in: db) != token else { return }
        try InitialAccessTokens.use(initial.id, in: db)
        try Clients.setRegistrationToken(token, of: client.id, in: db)
        guard try Clients.hasRoomForRegistration(initial.merchant, in: db) else { throw OAuthError.merchantIsFull }
    }
}

/// The holder of a registration's token, and so its client (RFC 7592).
struct RegistrationHolder: ClientAuthority {
    /// The client as it was read.
    let client: Client
    let token: Fingerprint<RegistrationToken>
    let reservedNames: [String]?
    /// The metadata that replaces the client's.
    let sent: JSON?
    let now: Timestamp
    let isClientItself = true
    let lendsResources = false
    var actor: Actor { Actor(.client(client.id), of: client.merchant?.text) }

    func confirm(in db: any Transaction) throws { _ = try Self.client(client.id, with: token, in: db) }

    func permit(changing current: Client, to changed: Client, by document: JSON, in db: any Transaction) throws {
        guard let sent, try current == client || RegistrationDocument(sent, over: current).json == document else {
            throw JSONFault("scope", "the client's current value: administration changed it meanwhile")
        }
        try permitSector(current, toBecome: changed)
    }

    /// Refuses another sector. The client's tokens give its users' subjects in the present sector. Another sector's
    /// document is public, with the redirect URIs that it lists: a client that registered those could learn that
    /// sector's subjects without a code.
    private func permitSector(_ current: Client, toBecome changed: Client) throws(JSONFault) {
        guard changed.openID.subjectType != current.openID.subjectType else { return }
        guard current.openID.isPairwise == changed.openID.isPairwise else {
            throw JSONFault("subject_type", "as registered: earlier tokens would reveal who the users are")
        }
        throw JSONFault(
            changed.openID.sectorIdentifierURI == nil ? "redirect_uris" : "sector_identifier_uri",
            "in the registered sector: the subjects of another one belong to other clients")
    }

    func permit(deleting client: Client, in db: any Transaction) throws {
        guard try Clients.disable(client.id, holding: token, at: now, in: db) else {
            throw OAuthError.tokenRefused("unknown_registration_token")
        }
    }

    static func token(of id: Client.ID, in db: any Transaction) throws -> Fingerprint<RegistrationToken>? {
        try db.rows("SELECT registration_token FROM clients WHERE id = \(id)").first?.get("registration_token")
    }

    static func client(
        _ id: Client.ID, with presented: Fingerprint<RegistrationToken>, in db: any Transaction
    ) throws -> Client {
        guard let known = try token(of: id, in: db), known.matches(presented),
            let client = try Clients.findLive(id, in: db)
        else {
            throw OAuthError.tokenRefused("unknown_registration_token")
        }
        return client
    }
}
