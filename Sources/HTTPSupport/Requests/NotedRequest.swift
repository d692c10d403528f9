package import Directory
package import HTTP
package import OAuth
package import Values

/// Notes whom a request concerns, where that is found out: the log says it of a refusal.
extension Request {
    package func note(_ client: Client.ID) { note { $0.client = client } }
    package func note(_ user: UserID) { note { $0.user = user } }

    /// A live token: its client and its user.
    package func note(_ token: AccessToken) {
        note { whom in
            whom.client = token.client
            if let user = token.user { whom.user = user }
        }
    }
}
