package import Directory
import OAuth
import Synchronization

/// The client that a request comes from, for code that surrounds its endpoint. It need not be authenticated.
package final class RequestingClient: Sendable {
    private let found = Mutex<Client.ID?>(nil)

    package var client: Client.ID? { found.withLock { $0 } }
    package func become(_ client: Client.ID?) { found.withLock { $0 = client } }
}
