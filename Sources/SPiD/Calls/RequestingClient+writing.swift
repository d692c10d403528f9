import Directory
import HTTP
import OAuth
package import Storage
package import Values

/// Calls that change data of a user.
extension RequestingClient {
    /// Refuses clients that are not SPiD-compatible, whatever their token: SPiD's apps have no scopes, which limit
    /// other clients' tokens.
    package func requireSPiDCompatible() throws(SPiDRefusal) {
        guard client.spidCompatible else { throw .notSPiDCompatible }
    }

    /// Throws when the token has ended, or the user has left the client that the call is for. Runs in the transaction
    /// that writes.
    package func confirm(_ user: UserID, _ db: any Transaction) throws {
        try confirm(db)
        guard try Connections.has(user, contextClient.id, in: db) else { throw SPiDRefusal.unconnectedUser }
    }

    /// As above, for calls about a user of any of the merchant's clients, as `UserFinder.find` finds them.
    package func confirmKnown(_ user: UserID, _ db: any Transaction) throws {
        try confirm(db)
        guard try token.user == user || Connections.hasAny(user, around: contextClient, in: db) else {
            throw SPiDRefusal.unconnectedUser
        }
    }
}
