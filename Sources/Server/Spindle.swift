import Authentication
import Directory
import Federation
import HTTPSupport
import Keys
import Storage

/// A server, ready to listen.
public struct Spindle: Sendable {
    /// Answers all requests, including administration's unless that has its own address.
    let publicRouter: Router
    /// Answers administration, when it has its own address.
    let adminRouter: Router?
    /// Every route of the public address, such as `POST /login`. Tests compare what they cover with these.
    public let routes: [String]
    let database: any Database
    let signingKeys: StoredSigningKeys
    let clients: Clients
    let merchants: Merchants
    let issuers: TrustedIssuers
    let retention: Retention
    let deletion: UserDeletion
    /// Delivers mails and callbacks.
    let delivery: DeliveryService
}
