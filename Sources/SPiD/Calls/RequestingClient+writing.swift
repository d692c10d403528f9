package import Directory
import HTTP
import OAuth
package import Storage
package import Values

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
