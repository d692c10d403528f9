import Cryptography
public import Directory
import Synchronization
public import Values

/// What a server in development mode remembers for its developer: the last mails, requests and tokens, in memory.
/// Other servers have none.
public final class DevelopmentMemory: Sendable {
    public let mails = Recent<DevelopmentMail>(most: 100)
    let requests = Recent<DevelopmentRequest>(most: 100)
    let trials = Recent<DevelopmentTrial>(most: 20)
    let clock: any WallClock

    public init(clock: any WallClock) { self.clock = clock }
}

/// The last few of many items.
public final class Recent<Item: Sendable>: Sendable {
    private let most: Int
    private let items = Mutex<[Item]>([])

    init(most: Int) { self.most = most }

    /// The newest first.
    var all: [Item] { items.withLock { $0.reversed() } }

    public func add(_ item: Item) { _ = add(item) { _ in false } }

    /// Adds `item`, unless one `matches`: returns that one.
    func add(_ item: Item, unless matches: (Item) -> Bool) -> Item? {
        items.withLock { items in
            if let found = items.last(where: matches) { return found }
            items.append(item)
            if items.count > most { items.removeFirst() }
            return nil
        }
    }

    func first(where matches: (Item) -> Bool) -> Item? { items.withLock { $0.last(where: matches) } }

    /// Changes the item that `matches`, if it is still there.
    func change(where matches: (Item) -> Bool, _ change: (inout Item) -> Void) {
        items.withLock { items in
            guard let index = items.lastIndex(where: matches) else { return }
            change(&items[index])
        }
    }
}

/// The secrets of the clients that development mode brings: the same at each start, and stored nowhere, like any
/// client's.
public struct DevelopmentSecrets: Sendable {
    private let key: [UInt8]

    public init(key: [UInt8]) { self.key = key }

    public func secret(of client: Client.ID) -> Secret<Client> {
        Secret(Base64URL.encode(Digest.hmacSHA256(Array(client.text.utf8), key: key)))
    }
}
