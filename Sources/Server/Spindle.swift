import Authentication
import Directory
import Federation
import HTTPSupport
import Keys
import Storage

/// A server, ready to listen.
public struct Spindle: Sendable {
    /// Answers everybody; administrators too, unless they have an address of their own.
    let publicRouter: Router
    /// Answers administrators, when they have an address of their own.
    let adminRouter: Router?
    /// Every route of the public address, as `POST /login`. Tests compare what they cover with these.
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
