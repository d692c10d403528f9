/// A loop's requests that wait for a task, and its tasks that wait for a request.
///
/// A task serves one request after the other, because creating a task costs as much as a short request.
@safe struct RequestQueue {
    private var requests: [RequestTask?] = []
    /// How many of `requests` have begun.
    private var begun = 0
    private var workers: [UnsafeContinuation<RequestTask?, Never>] = unsafe []
    private var isOver = false

    /// Tasks that may wait: each keeps some kilobytes.
    private static let mostWaiting = 64

    var isEmpty: Bool { requests.isEmpty }

    mutating func append(_ request: RequestTask) { requests.append(request) }

    /// The request that has waited longest.
    mutating func takeFirst() -> RequestTask? {
        guard begun < requests.count else { return nil }
        let first = requests[begun].take()
        begun += 1
        if begun == requests.count {
            requests.removeAll(keepingCapacity: requests.capacity <= 1_024)
            begun = 0
        }
        return first
    }

    /// Makes a task begin the next request, in a job of the loop. False when there is no request.
    mutating func wakeWorker(on loop: EventLoop) -> Bool {
        guard !isEmpty else { return false }
        if let worker = unsafe workers.popLast() {
            unsafe worker.resume(returning: takeFirst())
        } else {
            Task(executorPreference: loop) { await loop.serve() }
        }
        return true
    }

    /// Lets a task wait for its next request; it is resumed with nil when it must end.
    mutating func wait(_ worker: UnsafeContinuation<RequestTask?, Never>) {
        guard !isOver, unsafe workers.count < Self.mostWaiting else { return unsafe worker.resume(returning: nil) }
        unsafe workers.append(worker)
    }

    /// Ends the tasks that wait, now and later.
    mutating func dismissWorkers() {
        isOver = true
        let waiting = unsafe workers
        unsafe workers = []
        unsafe waiting.forEach { unsafe $0.resume(returning: nil) }
    }
}

extension EventLoop {
    /// Serves requests of the loop, one after the other.
    func serve() async {
        while isCurrent {
            if let request = local.requests.takeFirst() {
                await request.run(on: self)
            } else if let request = unsafe await withUnsafeContinuation({ unsafe local.requests.wait($0) }) {
                await request.run(on: self)
            } else {
                return
            }
        }
    }
}
