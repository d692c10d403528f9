import Foundation
import Synchronization
import Testing

@testable import Cryptography

@Suite("The hashing pool") struct HashingPoolTests {
    private static let cheap = PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1)
    /// A job that holds a thread of the pool until it is released.
    private final class Gate: Sendable {
        private let begun = DispatchSemaphore(value: 0)
        private let mayEnd = DispatchSemaphore(value: 0)

        /// Returns when a thread of `pool` is held.
        func hold(_ pool: HashingPool) async -> Task<Void, any Error> {
            let held = Task {
                try await pool.run(for: "a") { [self] in
                    begun.signal()
                    mayEnd.wait()
                }
            }
            while begun.wait(timeout: .now()) == .timedOut { await Task.yield() }
            return held
        }

        func letGo() { mayEnd.signal() }
    }

    /// Who was served, in order.
    private final class Order: Sendable {
        let names = Mutex<[String]>([])
        func add(_ name: String) { names.withLock { $0.append(name) } }
    }

    @Test("The hashing pool hashes and verifies passwords, with a new salt for each hash")
    func roundTrip() async throws {
        let pool = HashingPool(parameters: Self.cheap, random: SystemRandom())
        let first = try await pool.hash("correct horse", for: "a", random: SystemRandom())
        let second = try await pool.hash("correct horse", for: "a", random: SystemRandom())
        #expect(first != second)
        #expect(try await pool.verify("correct horse", against: first, for: "a"))
        #expect(try await pool.verify("correct horse", against: second, for: "a"))
        #expect(try await !pool.verify("correct house", against: first, for: "a"))
    }

    @Test("A sign-in of an unknown user computes as many hashes as one with a wrong password")
    func unknownUser() async throws {
        let pool = HashingPool(parameters: Self.cheap, random: SystemRandom())
        let hash = try await pool.hash("right", for: "a", random: SystemRandom())
        let start = pool.hashesComputed
        #expect(try await !pool.verify("wrong", against: hash, for: "a"))
        #expect(pool.hashesComputed == start + 1)
        #expect(try await !pool.verify("wrong", against: nil, for: "a"))
        #expect(pool.hashesComputed == start + 2)
    }

    @Test("While the hashing queue is full a new caller is refused at once, and the waiting ones are served")
    func overload() async throws {
        let pool = HashingPool(parameters: Self.cheap, workers: 1, queueLimit: 2, random: SystemRandom())
        let gate = Gate()
        let held = await gate.hold(pool)
        let waiting = (1...2).map { _ in Task { try await pool.verify("x", against: nil, for: "a") } }
        while pool.waiting < 2 { await Task.yield() }
        await #expect(throws: HashingPoolFull()) { try await pool.verify("y", against: nil, for: "a") }
        await #expect(throws: HashingPoolFull()) { try await pool.hash("y", for: "a", random: SystemRandom()) }

        gate.letGo()
        try await held.value
        for caller in waiting { #expect(try await !caller.value) }
        #expect(pool.hashesComputed == 3)
        #expect(try await !pool.verify("y", against: nil, for: "a"))
    }

    @Test("No more callers are admitted to hashing than can be served; a caller that leaves frees its place")
    func admission() async throws {
        let pool = HashingPool(parameters: Self.cheap, workers: 1, queueLimit: 1, random: SystemRandom())
        let outcome = try await pool.admit("a") {
            try await pool.admit("a") {
                await #expect(throws: HashingPoolFull()) { try await pool.admit("a") { "a third" } }
                return "a second"
            }
        }
        #expect(outcome == "a second")
        #expect(try await pool.admit("a") { try await pool.admit("a") { "again" } } == "again")
    }

    @Test("Another sender's job replaces the last job of the sender who fills the hashing queue")
    func turns() async throws {
        let pool = HashingPool(parameters: Self.cheap, workers: 1, queueLimit: 4, random: SystemRandom())
        let gate = Gate()
        let held = await gate.hold(pool)
        let order = Order()
        func queue(_ sender: String) async -> Task<Void, any Error> {
            let before = pool.waiting
            let task = Task { try await pool.run(for: sender) { order.add(sender) } }
            while pool.waiting == before { await Task.yield() }
            return task
        }
        var flood: [Task<Void, any Error>] = []
        for _ in 1...4 { flood.append(await queue("flood")) }
        await #expect(throws: HashingPoolFull()) { try await pool.run(for: "flood") {} }
        // The queue keeps its length: each new job replaces the flood's last one.
        let ada = Task { try await pool.run(for: "ada") { order.add("ada") } }
        await #expect(throws: HashingPoolFull()) { try await flood[3].value }
        let bob = Task { try await pool.run(for: "bob") { order.add("bob") } }
        await #expect(throws: HashingPoolFull()) { try await flood[2].value }
        #expect(pool.waiting == 4)
        let carol = Task { try await pool.run(for: "carol") { order.add("carol") } }
        await #expect(throws: HashingPoolFull()) { try await flood[1].value }
        // Each of the four senders has one place now.
        await #expect(throws: HashingPoolFull()) { try await pool.run(for: "dave") {} }
        gate.letGo()
        try await held.value
        for task in [flood[0], ada, bob, carol] { try await task.value }
        #expect(order.names.withLock { $0 } == ["flood", "ada", "bob", "carol"])
    }

    @Test("A sender that holds all admissions to hashing does not keep out senders that hold few")
    func sharedAdmission() {
        var admissions = HashingAdmissions()
        func entered(_ sender: String, of tries: Int) -> Int {
            (1...tries).count { _ in admissions.enter(sender, room: 10) }
        }
        #expect(entered("flood", of: 11) == 10)
        #expect(entered("ada", of: 11) == 5)
        #expect((16...40).allSatisfy { entered("\($0)", of: 1) == 1 })
        #expect(entered("one too many", of: 1) == 0)
        admissions.leave("flood")
        #expect(entered("one too many", of: 1) == 1)
        for _ in 1...9 { admissions.leave("flood") }
        #expect(entered("ada", of: 1) == 0, "there are more than ten, and ada has the most")
    }

    @Test("A caller cancelled before its turn leaves the hashing queue without any work")
    func cancellation() async throws {
        let pool = HashingPool(parameters: Self.cheap, workers: 1, queueLimit: 1, random: SystemRandom())
        let gate = Gate()
        let held = await gate.hold(pool)
        let gone = Task { try await pool.verify("x", against: nil, for: "a") }
        while pool.waiting < 1 { await Task.yield() }
        gone.cancel()
        await #expect(throws: CancellationError.self) { try await gone.value }
        #expect(pool.waiting == 0)

        let next = Task { try await pool.verify("x", against: nil, for: "a") }
        while pool.waiting < 1 { await Task.yield() }
        gate.letGo()
        try await held.value
        #expect(try await !next.value)
        #expect(pool.hashesComputed == 2)
    }

    #if os(Linux)
        @Test("The hashing pool's threads run at a lower priority than the program's other threads")
        func priority() async throws {
            let pool = HashingPool(parameters: Self.cheap, workers: 1, random: SystemRandom())
            _ = try await pool.verify("x", against: nil, for: "a")
            let folder = "/proc/self/task"
            let threads = try FileManager.default.contentsOfDirectory(atPath: folder)
            // Threads of other tests' pools may end between the two counts.
            let nice = threads.compactMap { thread -> (name: String, nice: String)? in
                guard let status = try? String(contentsOfFile: "\(folder)/\(thread)/stat", encoding: .utf8),
                    let open = status.firstIndex(of: "("), let close = status.lastIndex(of: ")")
                else { return nil }
                let fields = status[close...].split(separator: " ")
                return (String(status[open...].dropFirst().prefix { $0 != ")" }), String(fields[17]))
            }
            #expect(nice.contains { $0.name.hasPrefix("hashing-") && $0.nice == "10" })
            #expect(nice.contains { !$0.name.hasPrefix("hashing-") && $0.nice != "10" })
        }
    #endif
}
