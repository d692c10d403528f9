package import Directory
import HTTP
import OAuth
package import Storage
package import Values

/// Calls that write something of a user.
extension RequestingClient {
    /// Refuses clients that are not set to SPiD compatibility, with whatever token: SPiD's apps know no scopes, by
    /// which other clients' tokens are limited.
    package func requireSPiDCompatible() throws(SPiDRefusal) {
        guard client.spidCompatible else { throw .notSPiDCompatible }
    }

    /// The client as it writes something of `user`, who has used the client that the call is for; `orSister`: or is the
    /// token's own, or has used another of the merchant's, as `UserFinder.find` finds them.
    package func writing(of user: UserID, orSister: Bool = false) -> UserWriting {
        UserWriting(client: self, user: user, isWide: orSister)
    }

    /// The client as it writes an object of `owner`: a user as above, or the client itself.
    package func writing(of owner: DataObject.Owner) -> any Authority {
        guard let user = owner.user else { return self }
        return writing(of: user)
    }
}

/// A client that writes something of a user.
package struct UserWriting: Authority {
    let client: RequestingClient
    let user: UserID
    let isWide: Bool

    /// Throws also when the user has left.
    package func confirm(in db: any Transaction) throws {
        try client.confirm(in: db)
        let isConnected =
            try isWide
            ? client.token.user == user || Connections.hasAny(user, around: client.contextClient, in: db)
            : Connections.has(user, client.contextClient.id, in: db)
        guard isConnected else { throw SPiDRefusal.unconnectedUser }
    }
}
