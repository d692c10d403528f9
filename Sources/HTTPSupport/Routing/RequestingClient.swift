package import Directory
import OAuth
import Synchronization

/// Which client a request turned out to come from, for what surrounds its endpoint. It need not have proven it.
package final class RequestingClient: Sendable {
    private let found = Mutex<Client.ID?>(nil)

    package var client: Client.ID? { found.withLock { $0 } }
    package func become(_ client: Client.ID?) { found.withLock { $0 = client } }
}
