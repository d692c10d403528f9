package import Audit
package import Directory
import HTTP
package import OAuth
package import Storage
package import Values

/// The client that makes a call, after the checks that are the same for all calls.
package struct RequestingClient: Authority {
    let caller: CallAuthorization.Caller
    /// The client it acts for: that of `contextClientId`, or itself.
    package let contextClient: Client
    package var token: AccessToken { caller.token }
    /// The client that the token belongs to.
    package var client: Client { caller.client }

    package var actor: Actor { caller.actor }

    package func confirm(in db: any Transaction) throws {
        try caller.confirm(in: db)
        if contextClient.id != client.id { try contextClient.again(in: db) }
    }

    /// The user of the token, for a call that takes a user's.
    package var user: UserID {
        get throws(OAuthError) {
            guard let user = token.user else { throw .userTokenNeeded }
            return user
        }
    }

    /// The users that a list is about: those of the context client, or of its whole merchant.
    package func clientScope(isWide: Bool = false) -> ClientScope {
        ClientScope(
            client: contextClient.id, merchant: contextClient.merchant, isWide: isWide,
            sharesWithMerchant: client.may(.shareWithMerchant), user: token.user)
    }

    /// Refuses third-party clients: they could ask about every user, and act for users who are not theirs.
    package func requireFirstParty() throws(SPiDRefusal) {
        guard client.may(.actForUsers) else { throw .notFirstParty }
    }

    /// `found`, if it is the context client or, for a first-party client, another client of its merchant. Other
    /// merchants' clients are answered as unknown, and so are self-registered ones, which are not the merchant's.
    package func known(_ found: Client?) throws(SPiDRefusal) -> Client {
        guard let found else { throw .unknownClient }
        let isMerchants = Merchant.same(found.merchant, contextClient.merchant) && found.may(.belongToMerchant)
        guard found.id == contextClient.id || client.may(.shareWithMerchant) && isMerchants else {
            throw .unknownClient
        }
        return found
    }

    /// Refuses a user's token together with another client's id: a user has no access to `things` there.
    package func requireOwnContext(for things: String) throws(SPiDRefusal) {
        guard token.user == nil || contextClient.id == client.id else {
            throw SPiDRefusal(
                .forbidden, "With a user's token \(things) are those of the token's own client.",
                reason: "user_token_for_another_client")
        }
    }

    /// Whether `client` is known, as above.
    package func knows(_ client: Client?) -> Bool { (try? known(client)) != nil }
}

extension SPiDRefusal {
    package static let notSPiDCompatible = SPiDRefusal(
        .forbidden,
        "Client is not authorized to access this API endpoint. Contact the administrator of the merchant: the client "
            + "is not set to SPiD compatibility.", reason: "not_spid_compatible")
    static let appsOwnToken = SPiDRefusal(
        .forbidden,
        "An app's own token does not reach users, because its secret is in each copy of the app: send the user's "
            + "token, or call from a backend that has a client of its own, without a redirect URI in an app's scheme.",
        reason: "own_token_of_app")
    package static let appsTokenInPage = SPiDRefusal(
        .forbidden,
        "An app's own token is for the app: a page calls with its user's token, or by way of a backend.",
        reason: "own_token_of_app_in_page")
    static let notFirstParty = SPiDRefusal(
        .forbidden, "Client is not authorized to access this API endpoint: it is not first-party.",
        reason: "not_first_party")
    package static let unknownClient = SPiDRefusal(.notFound, "Unknown client ID", reason: "unknown_client")
}

/// Calls that change data of a user.
extension RequestingClient {
    /// Refuses clients that are not SPiD-compatible, whatever their token: SPiD's apps have no scopes, which limit
    /// other clients' tokens.
    package func requireSPiDCompatible() throws(SPiDRefusal) {
        guard client.may(.writeUsers) else { throw .notSPiDCompatible }
    }

    /// The client as the writer of data of `user`, who must be connected to the context client. With `orSister`,
    /// another client of the merchant is enough, or the token is the user's own (`UserFinder.find`).
    package func writing(of user: UserID, orSister: Bool = false) -> UserWriting {
        UserWriting(client: self, user: user, isWide: orSister)
    }

    /// The client as the writer of an object of `owner`: of a user as above, or of the client itself.
    package func writing(of owner: DataObject.Owner) -> any Authority {
        guard let user = owner.user else { return self }
        return writing(of: user)
    }
}

/// A client that writes data of a user.
package struct UserWriting: Authority {
    let client: RequestingClient
    let user: UserID
    let isWide: Bool

    package var actor: Actor { client.actor }

    /// Throws also if the user is no longer connected.
    package func confirm(in db: any Transaction) throws {
        try client.confirm(in: db)
        let isConnected =
            try isWide
            ? client.token.user == user || Connections.hasAny(user, around: client.contextClient, in: db)
            : Connections.has(user, client.contextClient.id, in: db)
        guard isConnected else { throw SPiDRefusal.unconnectedUser }
    }
}
