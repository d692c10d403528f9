package import Directory
import OAuth
import Synchronization

/// The client that a request claims to come from, for code that surrounds its endpoint. It need not be authenticated.
package final class PresumedClient: Sendable {
    private let found = Mutex<Client.ID?>(nil)

    package var id: Client.ID? { found.withLock { $0 } }
    package func note(_ client: Client.ID?) { found.withLock { $0 = client } }
}
