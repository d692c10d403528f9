import Authentication
import Directory
import HTTP
import OAuth
import SPiD
import Values

/// Finds the person whom a call is about, for those who may ask.
struct UserFinder: Sendable {
    let people: ConnectedUsers
    let connections: Connections

    /// A person, and the clients of the asking merchant that they have used.
    struct Found: Sendable {
        let person: ConnectedUsers.Match
        let clients: [Client]
    }

    /// Whom `{id}` means: with a person's token that person alone.
    func wanted(_ call: SPiDCall) async throws -> UserID {
        if let own = try call.asking.token.user {
            // Another person's id and one that nobody has read alike.
            guard UserID(spid: call.path["id"] ?? "") == own else { throw SPiDRefusal.anotherUser }
            return own
        }
        guard let user = try await user(call) else { throw SPiDRefusal.unconnectedUser }
        return user
    }

    /// The number that `{id}` stands for: a number, a uuid, or the address of somebody who has used the client that
    /// asks. An address that has no account reads like one of a stranger: nil.
    private func user(_ call: SPiDCall) async throws -> UserID? {
        let text = call.path["id"] ?? ""
        if let id = UserID(spid: text) { return id }
        guard let email = EmailAddress(text) else { throw SPiDRefusal.unknownUser }
        let asking = try call.asking
        // Whoever may not see an address must not find out by it either.
        guard asking.caller.firstParty, let user = try await people.user(of: email),
            try await connections.clients(of: user.id, around: asking.client)
                .contains(where: { $0.id == asking.client.id })
        else { return nil }
        return user.id
    }

    /// Whether the person has used `client`. Of whom nobody may know anything, it is false.
    func isConnected(to client: Client, _ call: SPiDCall) async throws -> Bool {
        guard let id = try await user(call), try await people.find(id, for: try call.circle()) != nil else {
            return false
        }
        return try await connections.clients(of: id, around: try call.asking.client).contains { $0.id == client.id }
    }

    /// The person, if the asking merchant's clients know them. Of others nobody is told whether they exist.
    func find(_ id: UserID, for call: SPiDCall) async throws -> Found {
        let asking = try call.asking
        let clients = try await connections.clients(of: id, around: asking.client)
        guard !clients.isEmpty || asking.token.user == id else { throw SPiDRefusal.unconnectedUser }
        // Whoever wants to be forgotten is not shown any more.
        guard let person = try await people.find(id, for: try call.circle()) else { throw SPiDRefusal.unknownUser }
        return Found(person: person, clients: clients)
    }
}

extension SPiDRefusal {
    static let unknownUser = SPiDRefusal(.notFound, "User was not found", reason: "unknown_user")
    static let unconnectedUser = SPiDRefusal(
        .forbidden, "Client is not authorized to access this user", reason: "unconnected_user")
    static let anotherUser = SPiDRefusal(
        .forbidden, "Token is not authorized to access this user.", reason: "another_user")
}
