import Directory
import HTTP
import OAuth
package import Storage
package import Values

/// Calls that write something of a user.
extension RequestingClient {
    /// Refuses clients that are not set to SPiD compatibility, with whatever token: SPiD's apps know no scopes, by
    /// which other clients' tokens are limited.
    package func requireSPiDCompatible() throws(SPiDRefusal) {
        guard client.may(.writeUsers) else { throw .notSPiDCompatible }
    }

    /// Throws when the token has ended, or the user has left the client that the call is for: in the transaction that
    /// writes.
    package func confirm(_ user: UserID, _ db: any Transaction) throws {
        try confirm(db)
        guard try Connections.has(user, contextClient.id, in: db) else { throw SPiDRefusal.unconnectedUser }
    }

    /// The same for calls about a user of any of the merchant's clients, as `UserFinder.find` finds them.
    package func confirmKnown(_ user: UserID, _ db: any Transaction) throws {
        try confirm(db)
        guard try token.user == user || Connections.hasAny(user, around: contextClient, in: db) else {
            throw SPiDRefusal.unconnectedUser
        }
    }
}
