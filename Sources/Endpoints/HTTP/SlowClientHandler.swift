public import NIOCore
public import NIOHTTPTypes

/// Cuts connections of clients that take too long: a whole request must arrive within `request`, and the next one must
/// have begun within `idle`, however many bytes drip in between.
///
/// One timer a connection looks every second; nothing is scheduled per request.
public final class SlowClientHandler: ChannelInboundHandler, RemovableChannelHandler {
    public typealias InboundIn = HTTPRequestPart
    public typealias InboundOut = HTTPRequestPart

    private let request: TimeAmount
    private let idle: TimeAmount
    private var deadline: NIODeadline = .distantFuture
    private var timer: RepeatedTask?

    public init(request: TimeAmount, idle: TimeAmount) {
        self.request = request
        self.idle = idle
    }

    public func handlerAdded(context: ChannelHandlerContext) {
        // A new connection owes its first request head.
        deadline = .now() + min(request, idle)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            let (handler, context) = bound.value
            guard NIODeadline.now() > handler.deadline else { return }
            context.close(promise: nil)
        }
    }

    public func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    public func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: deadline = .now() + request
        case .body: break
        // From here on it is our turn, and then the client's again: the answer is bounded by what it asks for.
        case .end: deadline = .now() + idle
        }
        context.fireChannelRead(data)
    }
}
