import CLinux

/// What one loop owns: its connections, jobs and buffers. Only its own thread touches it.
final class LoopCore {
    let poll: Poll
    let dates = DateClock()
    /// The loop, while its thread runs.
    var loop: EventLoop?
    /// The time when the turn began.
    private(set) var now = Milliseconds.now
    var jobs: [UnownedJob] = []
    /// Requests that begin in this turn or the next.
    var requests = RequestQueue()
    /// Bytes read from a socket, until its session has taken them.
    var scratch = [UInt8](repeating: 0, count: 32 * 1024)

    /// Bytes that are held for the clients of all connections; `mostHeld` limits them.
    var heldBytes = 0
    private let mostHeld: Int

    private var running: [UnownedJob] = []
    private var table = ConnectionTable()
    private var ready: [ConnectionID] = []
    private var advancing: [ConnectionID] = []
    private var handshakes: [ConnectionID] = []
    private var acceptors: [Acceptor?] = []
    private var spareBuffers: [[UInt8]] = []
    private var earliest = Milliseconds.never

    /// Rounds of jobs and connections before the sockets are polled again.
    private static let maxRounds = 8
    /// How long these rounds may take: a slow job may be followed by more slow ones.
    private static let longestRounds: Milliseconds = 5
    /// A full handshake costs as much as a hundred requests, so established connections come first.
    private static let handshakesPerTurn = 2
    /// Deadlines are checked no more often than this.
    private static let precision: Milliseconds = 25

    init(poll: Poll, mostHeld: Int) {
        self.poll = poll
        self.mostHeld = mostHeld
    }

    var hasWork: Bool { !jobs.isEmpty || !requests.isEmpty || !ready.isEmpty || !handshakes.isEmpty }

    /// How long the loop may sleep; -1 means forever.
    var patience: Int32 {
        earliest == .never ? -1 : Int32(clamping: max(0, earliest - .now))
    }

    func beginTurn() { now = .now }

    func take(_ event: linux_event) {
        let id = ConnectionID(raw: event.data)
        guard id.generation != ConnectionID.reserved else {
            if id != Poll.wakeUpID, acceptors.indices.contains(id.slot) { acceptors[id.slot]?.isReady = true }
            return
        }
        table[id]?.signal(event.events)
    }

    func endTurn(on executor: UnownedTaskExecutor) {
        for _ in 0..<Self.maxRounds where !jobs.isEmpty || !requests.isEmpty || !ready.isEmpty {
            unsafe runJobs(on: executor)
            swap(&ready, &advancing)
            for (number, id) in advancing.enumerated() {
                table[id]?.advance(now)
                // Thousands may have become readable at once, and looking for the largest takes time.
                if number % 8 == 7, heldBytes > mostHeld { abandonLargest() }
                // Requests that have begun keep their fields until they have run, even when their connection is gone.
                if number % 64 == 63 { unsafe runJobs(on: executor) }
            }
            advancing.removeAll(keepingCapacity: true)
            if heldBytes > mostHeld { abandonLargest() }
            guard Milliseconds.now - now < Self.longestRounds else { break }
        }
        let steps = handshakes.prefix(Self.handshakesPerTurn)
        handshakes.removeFirst(steps.count)
        for id in steps { table[id]?.advanceHandshake(now) }
        for acceptor in acceptors { acceptor?.accept(now) }
        if now >= earliest { expire() }
    }

    /// Resumes tasks, then begins requests: a separate task for each that waits for something, one task for all others.
    private func runJobs(on executor: UnownedTaskExecutor) {
        repeat {
            swap(&jobs, &running)
            for job in running { unsafe job.runSynchronously(on: executor) }
            running.removeAll(keepingCapacity: true)
        } while loop.map { requests.wakeWorker(on: $0) } == true
    }

    // Connections

    func connection(_ id: ConnectionID) -> Connection? { table[id] }

    /// Takes over an accepted socket.
    func adopt(_ descriptor: Int32, peer: String?, for service: Service) {
        guard let loop, let connection = Connection(descriptor, peer: peer, service: service, core: self, loop: loop)
        else {
            linux_close(descriptor)
            if service.tls != nil { service.handshakeEnded() }
            return service.released()
        }
        guard poll.addEdges(descriptor, as: connection.id) else { return connection.close() }
        connection.begin(now)
    }

    func insert(_ connection: Connection) { table[connection.id] = connection }
    func newID() -> ConnectionID { table.reserve() }

    /// Forgets a connection; its identifier finds nothing from now on.
    func remove(_ connection: Connection) { table.remove(connection.id) }

    /// Queues a connection for this turn or the next.
    func enqueue(_ id: ConnectionID) { ready.append(id) }
    func enqueueHandshake(_ id: ConnectionID) { handshakes.append(id) }

    func drain(_ service: Service) {
        for connection in table.all where connection.service === service { connection.drain(now) }
    }

    /// Closes the connections of a service that have waited longest for their peers: at most `most` of them. If none
    /// has waited long, closes connections of clients that have more than an eighth of all. With `onlyHandshakes` there
    /// is room for connections but not for handshakes: then no open connection is closed.
    func makeRoom(for service: Service, most: Int, onlyHandshakes: Bool) {
        let all = table.all.filter { $0.service === service && (!onlyHandshakes || $0.phase == .handshaking) }
        var unused = all.filter { $0.canMakeRoom(now) }
        if unused.isEmpty, !onlyHandshakes {
            let crowd = Crowd(of: all.map(\.network))
            unused = all.filter { $0.network.map(crowd.contains) == true && $0.canMakeRoomForOthers(now) }
        }
        for connection in unused.sorted(by: { $0.waitsSince < $1.waitsSince }).prefix(most) { connection.makeRoom(now) }
    }

    /// Closes a service's connections that are still open.
    func closeAll(of service: Service) {
        for connection in table.all where connection.service === service { connection.close() }
    }

    /// Ends the connections with the most bytes that wait for their clients.
    private func abandonLargest() {
        for connection in table.all.sorted(by: { $0.heldBytes > $1.heldBytes }) {
            guard heldBytes > mostHeld else { return }
            connection.abandon(now)
        }
    }

    /// Closes everything at the end of the thread.
    func close() {
        for connection in table.all { connection.close() }
        for acceptor in acceptors { acceptor?.close() }
        acceptors = []
        requests.dismissWorkers()
    }

    // Listeners

    func add(_ acceptor: Acceptor) {
        acceptor.register(at: acceptors.count, with: poll)
        acceptors.append(acceptor)
    }

    func acceptor(of service: Service) -> Acceptor? {
        acceptors.lazy.compactMap { $0 }.first { $0.service === service }
    }

    func removeAcceptor(of service: Service) {
        for index in acceptors.indices where acceptors[index]?.service === service { acceptors[index] = nil }
    }

    // Time

    func noteDeadline(_ deadline: Milliseconds) { earliest = min(earliest, deadline) }

    private func expire() {
        var next = Milliseconds.never
        for connection in table.all {
            if connection.deadline <= now { connection.expire(now) }
            next = min(next, connection.deadline)
        }
        for acceptor in acceptors {
            guard let acceptor else { continue }
            if acceptor.deadline <= now { acceptor.resume() }
            next = min(next, acceptor.deadline)
        }
        earliest = next == .never ? .never : max(next, now + Self.precision)
    }

    // Buffers

    func takeBuffer() -> [UInt8] { spareBuffers.popLast() ?? [] }

    /// Keeps a buffer for reuse; large ones go back to the system.
    func giveBack(_ buffer: consuming [UInt8]) {
        guard spareBuffers.count < 64, buffer.capacity <= 64 * 1024 else { return }
        buffer.removeAll(keepingCapacity: true)
        spareBuffers.append(buffer)
    }
}
