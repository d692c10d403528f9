import HTTP
import Synchronization

/// One request with its handler. It runs on its connection's loop and knows the connection only by its identifier: the
/// connection may be gone by the time there is a response.
struct RequestTask: Sendable {
    private let request: Request
    private let stream: Int32
    private let id: ConnectionID
    private let service: Service
    private let loop: EventLoop

    init(_ started: StartedRequest, of id: ConnectionID, service: Service, loop: EventLoop) {
        (request, stream) = (started.request, started.stream)
        (self.id, self.service, self.loop) = (id, service, loop)
    }

    func start() {
        Task(executorPreference: loop) { await run() }
    }

    private func run() async {
        let response = await service.handler.respond(to: request)
        service.working.subtract(1, ordering: .relaxed)
        loop.connection(id)?.answer(response, to: stream)
        guard case .stream(let parts) = response.body else { return }
        await send(parts)
    }

    /// Sends the parts of a body as fast as the peer reads them, and stops when the peer is gone.
    private func send(_ parts: AsyncThrowingStream<[UInt8], any Error>) async {
        do {
            for try await part in parts {
                guard let hasRoom = take(part) else { return }
                if !hasRoom { await waitForRoom() }
            }
            finish(failed: false)
        } catch {
            finish(failed: true)
        }
    }

    /// Whether the next part may follow at once; nil when the stream is closed.
    private func take(_ part: [UInt8]) -> Bool? {
        guard let connection = loop.connection(id), let session = connection.session, session.isOpen(stream) else {
            return nil
        }
        guard !part.isEmpty else { return true }
        defer { connection.enqueue() }
        return session.send(part, on: stream)
    }

    private func waitForRoom() async {
        await withCheckedContinuation { waiter in
            guard let connection = loop.connection(id) else { return waiter.resume() }
            connection.waitForRoom(on: stream, waiter)
        }
    }

    private func finish(failed: Bool) {
        guard let connection = loop.connection(id), let session = connection.session, session.isOpen(stream) else {
            return
        }
        session.finish(stream, failed: failed)
        connection.enqueue()
    }
}
