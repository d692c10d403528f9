package import Authentication
package import Directory
import HTTP
import OAuth
package import Values

/// Finds the user that a call is about, for clients that may know of them.
package struct UserFinder: Sendable {
    private let connectedUsers: ConnectedUsers
    private let connections: Connections
    private let merchants: MerchantNumbers

    package init(connectedUsers: ConnectedUsers, connections: Connections, merchants: MerchantNumbers) {
        self.connectedUsers = connectedUsers
        self.connections = connections
        self.merchants = merchants
    }

    /// A user, and the clients of the caller's merchant that they have used, as far as the caller may know, with the
    /// merchant's number.
    package struct Found: Sendable {
        package let match: ConnectedUsers.Match
        package let clients: [Client.ID]
        package let merchant: Int64?
    }

    /// The user that `text` names; with a user's token it must be that user.
    package func user(named text: String, for caller: RequestingClient) async throws -> UserID {
        if let own = caller.token.user {
            // Another user's id and an unreadable one get the same answer.
            if UserID(spid: text) == own { return own }
            guard try await connectedUsers.id(ofSubject: text) == own else { throw SPiDRefusal.anotherUser }
            return own
        }
        guard let user = try await user(text, for: caller) else { throw SPiDRefusal.unconnectedUser }
        return user
    }

    /// The user that `text` names: by number, by uuid or kept `sub`, or by the address of a user of the context client.
    /// Nil for every other address, whether a user has it or not.
    private func user(_ text: String, for caller: RequestingClient) async throws -> UserID? {
        if let id = UserID(spid: text) { return id }
        // The answer must not reveal whether there is a user that the merchant does not know.
        if let id = try await connectedUsers.id(ofSubject: text),
            try await !clients(of: id, for: caller).isEmpty
        {
            return id
        }
        guard let email = EmailAddress(text) else { throw SPiDRefusal.unknownUser }
        // A client that may not see an address must not be able to test one either.
        guard caller.client.may(.seeUsersUnasked), let user = try await connectedUsers.user(of: email),
            try await clients(of: user.id, for: caller).contains(caller.contextClient.id)
        else { return nil }
        return user.id
    }

    /// Whether the user that `text` names has used `client`. False for a user that the caller may not know of.
    package func isUser(named text: String, of client: Client, for caller: RequestingClient) async throws -> Bool {
        guard let id = try await user(text, for: caller),
            try await connectedUsers.find(id, for: caller.clientScope()) != nil
        else { return false }
        return try await clients(of: id, for: caller).contains(client.id)
    }

    /// The clients of the caller's merchant that the user has used. A third-party client sees only itself.
    private func clients(of user: UserID, for caller: RequestingClient) async throws -> [Client.ID] {
        let clients = try await connections.clients(of: user, around: caller.contextClient)
        return caller.client.may(.shareWithMerchant) ? clients : clients.filter { $0 == caller.contextClient.id }
    }

    /// The same clients, with what is shown of each.
    package func usedClients(of user: UserID, for caller: RequestingClient) async throws -> [UsedClient] {
        let clients = try await connections.used(by: user, around: caller.contextClient)
        return caller.client.may(.shareWithMerchant) ? clients : clients.filter { $0.id == caller.contextClient.id }
    }

    /// The user, if clients of the caller's merchant know them. The existence of other users is not revealed.
    package func find(_ id: UserID, for caller: RequestingClient) async throws -> Found {
        let clients = try await clients(of: id, for: caller)
        guard !clients.isEmpty || caller.token.user == id else { throw SPiDRefusal.unconnectedUser }
        // A user waiting for deletion is no longer shown.
        guard let match = try await connectedUsers.find(id, for: caller.clientScope()) else {
            throw SPiDRefusal.unknownUser
        }
        let merchant = try await merchants.number(of: caller.contextClient.merchant)
        return Found(match: match, clients: clients, merchant: merchant)
    }

    /// The user, if they have used the context client itself.
    package func findOfClient(_ id: UserID, for caller: RequestingClient) async throws -> Found {
        let found = try await find(id, for: caller)
        guard found.clients.contains(caller.contextClient.id) else {
            throw SPiDRefusal.unconnectedUser
        }
        return found
    }
}

extension SPiDRefusal {
    package static let unknownUser = SPiDRefusal(.notFound, "User was not found", reason: "unknown_user")
    package static let unconnectedUser = SPiDRefusal(
        .forbidden, "Client is not authorized to access this user", reason: "unconnected_user")
    static let anotherUser = SPiDRefusal(
        .forbidden, "Token is not authorized to access this user.", reason: "another_user")
}
