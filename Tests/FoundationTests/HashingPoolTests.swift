import Foundation
import Testing

@testable import Cryptography

@Suite("The hashing pool") struct HashingPoolTests {
    private static let cheap = PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1)
    /// A job that holds a thread of the pool until it is let go.
    private final class Gate: Sendable {
        private let begun = DispatchSemaphore(value: 0)
        private let mayEnd = DispatchSemaphore(value: 0)

        /// Returns when a thread of `pool` is held.
        func hold(_ pool: HashingPool) async -> Task<Void, any Error> {
            let held = Task {
                try await pool.run { [self] in
                    begun.signal()
                    mayEnd.wait()
                }
            }
            while begun.wait(timeout: .now()) == .timedOut { await Task.yield() }
            return held
        }

        func letGo() { mayEnd.signal() }
    }

    @Test("the pool hashes and verifies, with a new salt each time")
    func roundTrip() async throws {
        let pool = HashingPool(parameters: Self.cheap, random: SystemRandom())
        let first = try await pool.hash("correct horse", random: SystemRandom())
        let second = try await pool.hash("correct horse", random: SystemRandom())
        #expect(first != second)
        #expect(try await pool.verify("correct horse", against: first))
        #expect(try await pool.verify("correct horse", against: second))
        #expect(try await !pool.verify("correct house", against: first))
    }

    @Test("an unknown user costs as much work as a wrong password")
    func unknownUser() async throws {
        let pool = HashingPool(parameters: Self.cheap, random: SystemRandom())
        let hash = try await pool.hash("right", random: SystemRandom())
        let start = pool.hashesComputed
        #expect(try await !pool.verify("wrong", against: hash))
        #expect(pool.hashesComputed == start + 1)
        #expect(try await !pool.verify("wrong", against: nil))
        #expect(pool.hashesComputed == start + 2)
    }

    @Test("a caller beyond the full queue is refused at once, and those that wait are served")
    func overload() async throws {
        let pool = HashingPool(parameters: Self.cheap, workers: 1, queueLimit: 2, random: SystemRandom())
        let gate = Gate()
        let held = await gate.hold(pool)
        let waiting = (1...2).map { _ in Task { try await pool.verify("x", against: nil) } }
        while pool.waiting < 2 { await Task.yield() }
        await #expect(throws: HashingPoolFull()) { try await pool.verify("y", against: nil) }
        await #expect(throws: HashingPoolFull()) { try await pool.hash("y", random: SystemRandom()) }

        gate.letGo()
        try await held.value
        for caller in waiting { #expect(try await !caller.value) }
        #expect(pool.hashesComputed == 3)
        #expect(try await !pool.verify("y", against: nil))
    }

    @Test("no more callers are admitted than can be served, and one that leaves makes room")
    func admission() async throws {
        let pool = HashingPool(parameters: Self.cheap, workers: 1, queueLimit: 1, random: SystemRandom())
        let outcome = try await pool.admit {
            try await pool.admit {
                await #expect(throws: HashingPoolFull()) { try await pool.admit { "a third" } }
                return "a second"
            }
        }
        #expect(outcome == "a second")
        #expect(try await pool.admit { try await pool.admit { "again" } } == "again")
    }

    @Test("a caller cancelled before its turn leaves the queue without any work")
    func cancellation() async throws {
        let pool = HashingPool(parameters: Self.cheap, workers: 1, queueLimit: 1, random: SystemRandom())
        let gate = Gate()
        let held = await gate.hold(pool)
        let gone = Task { try await pool.verify("x", against: nil) }
        while pool.waiting < 1 { await Task.yield() }
        gone.cancel()
        await #expect(throws: CancellationError.self) { try await gone.value }
        #expect(pool.waiting == 0)

        let next = Task { try await pool.verify("x", against: nil) }
        while pool.waiting < 1 { await Task.yield() }
        gate.letGo()
        try await held.value
        #expect(try await !next.value)
        #expect(pool.hashesComputed == 2)
    }

    #if os(Linux)
        @Test("the pool's threads run below the priority of the rest")
        func priority() async throws {
            let pool = HashingPool(parameters: Self.cheap, workers: 1, random: SystemRandom())
            _ = try await pool.verify("x", against: nil)
            let folder = "/proc/self/task"
            let threads = try FileManager.default.contentsOfDirectory(atPath: folder)
            // The threads of other tests' pools may end between the two looks.
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
