import Authentication
import Directory
import Federation
import OAuth
import Storage
import Values

extension ImportExtras {
    /// What modules other than Authentication keep of imported users.
    static let ofModules = ImportExtras(
        check: { users, db in
            let identities = users.flatMap(\.identities)
            let issuers = try TrustedIssuers.known(
                among: Array(Set(identities.map { TrustedIssuer.ID($0.issuer) })), in: db)
            let linked = Set(
                try IssuerSubjects.linked(identities.map(\.subject), in: db).map {
                    ImportedUser.Identity(issuer: $0.issuer.text, subject: $0.subject)
                })
            let clients = try Self.clients(of: users, in: db)
            return users.reduce(into: [:]) { faults, user in
                if !user.identities.allSatisfy({ issuers.contains(TrustedIssuer.ID($0.issuer)) }) {
                    faults[user.id] = .unknownReference("identities")
                } else if !linked.isDisjoint(with: user.identities) {
                    faults[user.id] = .taken("identities")
                } else if !user.consents.allSatisfy({ clients[$0.client] != nil }) {
                    faults[user.id] = .unknownReference("consents")
                } else if !user.consents.allSatisfy({ $0.scope.isSubset(of: clients[$0.client]?.scope ?? .empty) }) {
                    faults[user.id] = .unknownReference("consents")
                }
            }
        },
        store: { users, now, db in
            let clients = try Self.clients(of: users, in: db)
            for user in users {
                for identity in user.identities {
                    try IssuerSubjects.keep(
                        identity.subject, of: TrustedIssuer.ID(identity.issuer), for: user.id, at: now, in: db)
                }
                for consent in user.consents {
                    guard let client = clients[consent.client] else { continue }
                    try Consents.keep(consent.scope, for: client, by: user.id, at: consent.at, in: db)
                }
            }
        })

    private static func clients(
        of users: [ImportedUser], in db: any Transaction
    ) throws -> [Client.ID: Client] {
        try Clients.known(among: Array(Set(users.flatMap { $0.consents.map(\.client) })), in: db)
    }
}
