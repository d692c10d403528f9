public import Cryptography
public import Directory
public import JSON
import Keys
public import Storage
public import Values

/// The token by which a client that registered itself manages its registration (RFC 7592 §1.2).
public enum RegistrationToken {}

/// Lets clients register themselves, and change and delete their registration (RFC 7591, RFC 7592).
public struct ClientRegistration: Sendable {
    private let database: any Database
    private let clients: Clients
    private let initialTokens: InitialAccessTokens
    private let sectors: SectorDocument.Source
    private let addresses: AddressRules
    private let allowsUnsafeTokens: Bool
    private let random: any RandomSource

    /// `allowsUnsafeTokens`: self-registered clients may get access tokens in an authorization response.
    public init(
        database: any Database, clients: Clients, initialTokens: InitialAccessTokens, sectors: SectorDocument.Source,
        addresses: AddressRules, allowsUnsafeTokens: Bool, random: any RandomSource
    ) {
        self.database = database
        self.clients = clients
        self.initialTokens = initialTokens
        self.sectors = sectors
        self.addresses = addresses
        self.allowsUnsafeTokens = allowsUnsafeTokens
        self.random = random
    }

    /// Registers the client that `json` describes, for the merchant whose token was presented.
    public func register(
        _ json: JSON, with presented: Secret<InitialAccessToken>
    ) async throws -> (client: Clients.Registered, token: Secret<RegistrationToken>) {
        let initial = try await initialTokens.present(presented)
        let token = Secret<RegistrationToken>.random(from: random)
        do {
            let document = try RegistrationDocument(json).json
            try review(document)
            // Its users are asked for consent, because it has not been reviewed.
            let whole = JSON.object((document.members ?? []) + [.init("first_party", false)])
            let requester = SectorDocument.Source.Requester(newOf: initial.merchant, token: initial.id.text)
            let metadata = try ClientMetadata(whole, sector: try await sector(of: document, for: requester))
            let made = try await database.inTurn(of: .registered(of: initial.merchant, by: initial.id.text)) {
                try await clients.register(
                    metadata, merchant: initial.merchant,
                    by: Registrant(initial: initial, token: token.fingerprint, reservedNames: addresses.ownNames))
            }
            return (made, token)
        } catch let fault as JSONFault {
            throw OAuthError.registrationRefused(fault)
        }
    }

    /// The client that registered itself as `id`, if `presented` is its token.
    ///
    /// Throws `invalid_token` for an unknown client, one that did not register itself, a wrong token, and a disabled
    /// client or merchant. The errors look alike (RFC 7592 §2.1).
    public func client(_ id: Client.ID, with presented: Secret<RegistrationToken>) async throws -> Client {
        try await database.read { db in try RegistrationHolder.client(id, with: presented.fingerprint, in: db) }
    }

    /// Replaces the client's metadata by `json` (RFC 7592 §2.2).
    public func replace(
        _ id: Client.ID, by json: JSON, with presented: Secret<RegistrationToken>
    ) async throws -> Client {
        let client = try await client(id, with: presented)
        do {
            try await check(json, of: client)
            let document = try RegistrationDocument(json, over: client).json
            try review(document, after: client)
            // Fetching the sector document may take seconds. Meanwhile an administrator may have revoked the token, or
            // removed a scope that this change repeats because the client had it.
            let listed = try await sector(of: document, for: SectorDocument.Source.Requester(client))
            let changed = try await database.inTurn(of: .registered(of: client.merchant, by: id.text)) {
                try await clients.change(id, document, by: holder(of: client, presented, sent: json), sector: listed)
            }
            guard let changed else { throw OAuthError.tokenRefused("unknown_registration_token") }
            return changed
        } catch let fault as JSONFault {
            throw OAuthError.registrationRefused(fault)
        }
    }

    /// Deletes the client with everything it holds (RFC 7592 §2.3).
    public func delete(_ id: Client.ID, with presented: Secret<RegistrationToken>) async throws {
        let client = try await client(id, with: presented)
        // Its data is deleted in many small transactions, and the first one decides: an administrator may have revoked
        // the token since it was checked.
        try await database.inTurn(of: .registered(of: client.merchant, by: id.text)) {
            _ = try await clients.delete(id, by: holder(of: client, presented))
        }
    }

    private func holder(
        of client: Client, _ presented: Secret<RegistrationToken>, sent: JSON? = nil
    ) -> RegistrationHolder {
        RegistrationHolder(
            client: client, token: presented.fingerprint, reservedNames: addresses.ownNames, sent: sent,
            now: clients.clock.now)
    }

    /// Checks what an administrator would otherwise review.
    private func review(_ document: JSON, after current: Client? = nil) throws(JSONFault) {
        try addresses.check(document)
        try Self.checkSector(document, of: current)
        // As above; its sector is unchanged (`permitSector`).
        let isKept = current.map { $0.openID.backChannelLogoutURI == document["backchannel_logout_uri"]?.string }
        if isKept != true { try Self.checkLogoutHost(document) }
        let types = (document["response_types"]?.strings ?? []).compactMap { ResponseType($0) }
        guard allowsUnsafeTokens || !types.contains(where: { $0.contains(.token) }) else {
            throw JSONFault("response_types", "without token: access tokens come only from the token endpoint")
        }
    }

    /// A sector's document proves who owns an https address. Other addresses prove no ownership. A client's existing
    /// addresses stay valid.
    private static func checkSector(_ document: JSON, of current: Client?) throws(JSONFault) {
        guard document["subject_type"]?.string == "pairwise", document["sector_identifier_uri"]?.string != nil else {
            return
        }
        let had = Set(current?.redirectURIs.map(\.text) ?? [])
        let new = (document["redirect_uris"]?.strings ?? []).filter { !had.contains($0) }
        guard new.allSatisfy({ $0.lowercased().hasPrefix("https://") }) else {
            throw JSONFault("redirect_uris", "https addresses, with a sector_identifier_uri")
        }
    }

    /// Logout tokens name users by the client's sector identifiers, so only a host of the sector may receive them.
    /// Without a document that is the host of the redirect URIs, which the registrant may not own; with one, a host it
    /// lists or its own.
    private static func checkLogoutHost(_ document: JSON) throws(JSONFault) {
        guard document["subject_type"]?.string == "pairwise",
            let address = document["backchannel_logout_uri"]?.string
        else { return }
        let host = RedirectURI(stored: address).host
        let hosts = (document["redirect_uris"]?.strings ?? []).map { RedirectURI(stored: $0).host }
        guard let sector = document["sector_identifier_uri"]?.string else {
            guard hosts.allSatisfy({ $0 == host }) else {
                throw JSONFault("backchannel_logout_uri", "at the host of the redirect_uris")
            }
            return
        }
        guard (hosts + [RedirectURI(stored: sector).host]).contains(host) else {
            throw JSONFault("backchannel_logout_uri", "at a host of the redirect_uris or of the sector_identifier_uri")
        }
    }

    /// The sector document, fetched at the expense of `requester`.
    private func sector(
        of document: JSON, for requester: SectorDocument.Source.Requester
    ) async throws -> SectorDocument? {
        guard let uri = document["sector_identifier_uri"]?.string else { return nil }
        // Checked before the fetch: it must be a URL that may be fetched.
        _ = try OpenIDSettings.address(try JSONMembers(document), "sector_identifier_uri")
        return try await sectors.document(at: uri, for: requester)
    }

    /// RFC 7592 §2.2: what a change must contain, and what it must not.
    private func check(_ json: JSON, of client: Client) async throws {
        let members = try JSONMembers(json)
        guard try members.required("client_id") == client.id.text else {
            throw JSONFault("client_id", "that of the registration")
        }
        for name in [
            "registration_access_token", "registration_client_uri", "client_secret_expires_at", "client_id_issued_at",
        ] where members.any(name) != nil {
            throw JSONFault(name, "left out of a change")
        }
        guard let secret = try members.text("client_secret").map({ Secret<Client>($0) }) else { return }
        guard try await clients.holds(client, secret) else {
            throw JSONFault("client_secret", "what was issued, or left out: a client cannot choose it")
        }
    }
}
