import HTTP
import Synchronization

extension Connection {
    /// Begins each complete request.
    func startRequests(_ session: any ConnectionSession, _ now: Milliseconds) {
        guard phase == .open, session.readsWhileSending || !hasBacklog else { return }
        while let started = session.nextRequest(now: now) {
            service.working.add(1, ordering: .relaxed)
            lastUse = now
            hasServed = true
            core.requests.append(RequestTask(started, of: id, service: service))
        }
    }

    func answer(_ response: Response, to stream: Int32) {
        guard phase == .open, let session else { return }
        lastUse = core.now
        session.answer(response, to: stream, now: core.now)
        enqueue()
    }
}
