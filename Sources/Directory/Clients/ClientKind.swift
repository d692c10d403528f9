package import Storage
import Values

/// What kind of client one is. Only its document and its row name the kind: everything else asks for a right
/// (`ClientRight`).
public struct ClientKind: Sendable, Hashable {
    let owner: Owner
    let custody: Custody
    let dialect: Dialect

    /// Whose it is, and at which merchant: the platform has none.
    package enum Owner: Sendable, Hashable {
        case platform
        case merchant(Merchant.ID)
        case thirdParty(at: Merchant.ID?)
        /// As a third party's. What it says about itself is not verified (RFC 7591 §5).
        case registeredItself(at: Merchant.ID?)
    }

    /// Who has its secret.
    package enum Custody: String, Sendable {
        /// It has none: a public client (RFC 6749 §2.1).
        case none
        /// It has redirect URIs in an app's scheme, so each copy of the app has its secret (RFC 8252 §8.5).
        case inApp = "in_app"
        /// A server: it is a backend.
        case onServer = "on_server"
    }

    /// Whose rules it is answered by.
    package enum Dialect: Sendable { case standard, spid }

    package init(owner: Owner, custody: Custody, dialect: Dialect) {
        self.owner = owner
        self.custody = custody
        self.dialect = dialect
    }

    /// The merchant that it is at; nil for the platform's own.
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
    /// What `init` reads of the client `c`.
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
    /// Of the members of its document. One that becomes first-party is a stranger's no more.
    init(at merchant: Merchant.ID?, isFirstParty: Bool, registeredItself: Bool) {
        if isFirstParty {
            self = merchant.map { .merchant($0) } ?? .platform
        } else {
            self = registeredItself ? .registeredItself(at: merchant) : .thirdParty(at: merchant)
        }
    }
}

extension ClientKind.Custody {
    /// It follows from how a client authenticates and where its codes go, and is written to the row with them, so that a
    /// statement can ask for it. A secret for redirect URIs of both kinds is in the app.
    init(_ authentication: Client.Authentication, _ redirectURIs: [RedirectURI]) {
        if authentication == .none {
            self = .none
        } else {
            self = redirectURIs.allSatisfy(\.isOfWeb) ? .onServer : .inApp
        }
    }
}

extension ClientKind {
    /// The kind that `metadata` says, at `merchant`.
    init(_ metadata: ClientMetadata, at merchant: Merchant.ID?, registeredItself: Bool) {
        self.init(
            owner: Owner(at: merchant, isFirstParty: metadata.firstParty, registeredItself: registeredItself),
            custody: Custody(metadata.authentication, metadata.redirectURIs),
            dialect: metadata.spidCompatible ? .spid : .standard)
    }

    /// The same client's, when its document has become `metadata`.
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
    /// Clients that registered themselves have a share of their merchant together, for it knows nothing of them.
    package var outboundShare: String {
        switch self {
        case .platform: "the platform"
        case .merchant(let id): id.text
        case .thirdParty(let id): id?.text ?? "the platform"
        case .registeredItself(let id): (id?.text ?? "the platform") + " registered"
        }
    }
}
