import Directory
import OAuth
import Synchronization

/// Which client a request turned out to come from, for what surrounds its endpoint. It need not have proven it.
final class RequestingClient: Sendable {
    private let found = Mutex<Client.ID?>(nil)

    var client: Client.ID? { found.withLock { $0 } }
    func become(_ client: Client.ID?) { found.withLock { $0 = client } }
}
