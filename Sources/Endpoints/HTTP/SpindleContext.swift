public import Hummingbird
import NIOCore

/// What belongs to one request besides the request: who is on the other end of the connection, and who asks.
public struct SpindleContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    let peer: SocketAddress?
    let asker = Asker()

    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.channel.remoteAddress
    }
}

/// A group of routes: turns bytes into values, calls one domain function, renders the result. It holds no rule.
public protocol Endpoint: Sendable {
    func add(to router: RouterGroup<SpindleContext>)
}
