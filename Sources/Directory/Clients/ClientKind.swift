package import Storage
import Values

/// The kind of a client. Only its document and its row name the kind; all other code asks for a right (`ClientRight`).
public struct ClientKind: Sendable, Hashable {
    let owner: Owner
    let custody: Custody
    let dialect: Dialect

    /// Who owns the client, and at which merchant: the platform's clients have none.
    package enum Owner: Sendable, Hashable {
        case platform
        case merchant(Merchant.ID)
        case thirdParty(at: Merchant.ID?)
        /// Like a third party's client, but nothing that it says about itself is verified (RFC 7591 §5).
        case registeredItself(at: Merchant.ID?)
    }

    /// Who keeps the client's secret.
    package enum Custody: String, Sendable {
        /// No secret: a public client (RFC 6749 §2.1).
        case none
        /// Every copy of an app: the client has redirect URIs in an app's scheme (RFC 8252 §8.5).
        case inApp = "in_app"
        /// A server: the client is a backend.
        case onServer = "on_server"
    }

    /// Which rules the answers to the client follow.
    package enum Dialect: Sendable { case standard, spid }

    package init(owner: Owner, custody: Custody, dialect: Dialect) {
        self.owner = owner
        self.custody = custody
        self.dialect = dialect
    }

    /// The client's merchant; nil for the platform's clients.
    package var merchant: Merchant.ID? {
        switch owner {
        case .platform: nil
        case .merchant(let id): id
        case .thirdParty(let id), .registeredItself(let id): id
        }
    }
}

// MARK: In the database

extension ClientKind {
    /// The columns of the client `c` that `init` reads.
    package static let columns: SQL.Columns =
        """
        c.merchant_id, c.first_party, c.spid_compatible, c.custody,
        CASE WHEN c.registration_token IS NULL THEN 0 ELSE 1 END AS registered_itself
        """

    package init(_ row: Row) throws {
        guard let custody = Custody(rawValue: try row.get("custody")) else {
            throw StorageError.unreadable("clients.custody")
        }
        self.init(
            owner: Owner(
                at: try row.get("merchant_id"), isFirstParty: try row.get("first_party"),
                registeredItself: try row.get("registered_itself")),
            custody: custody, dialect: try row.get("spid_compatible") ? .spid : .standard)
    }
}

// MARK: In documents

extension ClientKind.Owner {
    /// The owner by the members of the document. A self-registered client that becomes first-party is its merchant's.
    init(at merchant: Merchant.ID?, isFirstParty: Bool, registeredItself: Bool) {
        if isFirstParty {
            self = merchant.map { .merchant($0) } ?? .platform
        } else {
            self = registeredItself ? .registeredItself(at: merchant) : .thirdParty(at: merchant)
        }
    }
}

extension ClientKind.Custody {
    /// Follows from how a client authenticates and where its codes go, and is written to the row with them, so that a
    /// statement can ask for it. If a client has redirect URIs of both kinds, the app has its secret.
    init(_ authentication: Client.Authentication, _ redirectURIs: [RedirectURI]) {
        if authentication == .none {
            self = .none
        } else {
            self = redirectURIs.allSatisfy(\.isOfWeb) ? .onServer : .inApp
        }
    }
}

extension ClientKind {
    /// The kind that `metadata` describes, at `merchant`.
    init(_ metadata: ClientMetadata, at merchant: Merchant.ID?, registeredItself: Bool) {
        self.init(
            owner: Owner(at: merchant, isFirstParty: metadata.firstParty, registeredItself: registeredItself),
            custody: Custody(metadata.authentication, metadata.redirectURIs),
            dialect: metadata.spidCompatible ? .spid : .standard)
    }

    /// The kind of the same client with the document `metadata`.
    func changed(to metadata: ClientMetadata) -> ClientKind {
        ClientKind(metadata, at: merchant, registeredItself: registeredItself)
    }

    var isFirstParty: Bool {
        switch owner {
        case .platform, .merchant: true
        case .thirdParty, .registeredItself: false
        }
    }
    var isSPiDCompatible: Bool { dialect == .spid }
    private var registeredItself: Bool { if case .registeredItself = owner { true } else { false } }
}

// MARK: At whose expense

extension ClientKind {
    package var outboundShare: String { owner.outboundShare }
}

extension ClientKind.Owner {
    /// A merchant's self-registered clients share one quota, because the merchant does not know them.
    package var outboundShare: String {
        switch self {
        case .platform: "the platform"
        case .merchant(let id): id.text
        case .thirdParty(let id): id?.text ?? "the platform"
        case .registeredItself(let id): (id?.text ?? "the platform") + " registered"
        }
    }
}
