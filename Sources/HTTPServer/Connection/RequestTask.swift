import HTTP
import Synchronization

/// One request with its handler. It runs on its connection's loop and knows the connection only by its identifier: the
/// connection may be gone by the time there is a response.
struct RequestTask: Sendable {
    private let request: Request
    private let stream: Int32
    private let id: ConnectionID
    private let service: Service

    init(_ started: consuming StartedRequest, of id: ConnectionID, service: Service) {
        (request, stream) = (started.request, started.stream)
        (self.id, self.service) = (id, service)
    }

    func run(on loop: EventLoop) async {
        let response = await service.handler.respond(to: request)
        service.working.subtract(1, ordering: .relaxed)
        loop.connection(id)?.answer(response, to: stream)
        guard case .stream(let parts) = response.body else { return }
        await send(parts, on: loop)
    }

    /// Sends the parts of a body as fast as the peer reads them, and stops when the peer is gone.
    private func send(_ parts: AsyncThrowingStream<[UInt8], any Error>, on loop: EventLoop) async {
        do {
            for try await part in parts {
                guard let hasRoom = take(part, on: loop) else { return }
                if !hasRoom { await waitForRoom(on: loop) }
            }
            finish(failed: false, on: loop)
        } catch {
            finish(failed: true, on: loop)
        }
    }

    /// Whether the next part may follow at once; nil when the stream is closed.
    private func take(_ part: [UInt8], on loop: EventLoop) -> Bool? {
        guard let connection = loop.connection(id), let session = connection.session, session.isOpen(stream) else {
            return nil
        }
        guard !part.isEmpty else { return true }
        defer { connection.enqueue() }
        return session.send(part, on: stream)
    }

    private func waitForRoom(on loop: EventLoop) async {
        await withCheckedContinuation { waiter in
            guard let connection = loop.connection(id) else { return waiter.resume() }
            connection.waitForRoom(on: stream, waiter)
        }
    }

    private func finish(failed: Bool, on loop: EventLoop) {
        guard let connection = loop.connection(id), let session = connection.session, session.isOpen(stream) else {
            return
        }
        session.finish(stream, failed: failed)
        connection.enqueue()
    }
}
