import Foundation
import Synchronization
import Testing

@testable import Cryptography

@Suite("The hashing pool") struct HashingPoolTests {
    private static let cheap = PasswordHashParameters(memoryKiB: 8, iterations: 1, parallelism: 1)
    /// A tenth of a second or so: long enough to be caught at work.
    private static let slow = PasswordHashParameters(memoryKiB: 32768, iterations: 4, parallelism: 1)

    @Test("hashes and verifies, with a new salt each time")
    func roundTrip() async throws {
        let pool = try HashingPool(parameters: Self.cheap, random: SystemRandom())
        let first = try await pool.hash("correct horse", random: SystemRandom())
        let second = try await pool.hash("correct horse", random: SystemRandom())
        #expect(first != second)
        #expect(try await pool.verify("correct horse", against: first))
        #expect(try await pool.verify("correct horse", against: second))
        #expect(try await !pool.verify("correct house", against: first))
    }

    @Test("an unknown user is as much work as a wrong password")
    func unknownUser() async throws {
        let pool = try HashingPool(parameters: Self.cheap, random: SystemRandom())
        let hash = try await pool.hash("right", random: SystemRandom())
        let start = pool.hashesComputed
        #expect(try await !pool.verify("wrong", against: hash))
        #expect(pool.hashesComputed == start + 1)
        #expect(try await !pool.verify("wrong", against: nil))
        #expect(pool.hashesComputed == start + 2)
    }

    @Test("when its queue is full the next caller is refused at once, and those that wait are served")
    func overload() async throws {
        let pool = try HashingPool(parameters: Self.slow, workers: 1, queueLimit: 2, random: SystemRandom())
        let answers = await withTaskGroup(of: Bool?.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    do { return try await pool.verify("x", against: nil) } catch {
                        #expect(error is HashingPoolFull)
                        return nil
                    }
                }
            }
            return await group.reduce(into: [Bool?]()) { $0.append($1) }
        }
        let served = answers.compactMap { $0 }.count
        #expect((1..<12).contains(served))
        #expect(pool.hashesComputed == served)
        #expect(pool.waiting == 0)
    }

    @Test("exactly so many wait as the limit says")
    func limit() async throws {
        let queue = HashingQueue(limit: 2)
        let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let done = Atomic(0)
        let gone = Atomic(0)
        let tickets = (0..<4).map { _ in HashingQueue.Ticket() }
        let jobs = tickets.map { ticket in
            HashingQueue.Job(ticket: ticket) { dropped in
                if dropped {
                    gone.add(1, ordering: .relaxed)
                } else {
                    begun.signal()
                    mayEnd.wait()
                    done.add(1, ordering: .relaxed)
                }
            }
        }
        queue.startThread(named: "hashing-test")
        #expect(queue.add(jobs[0]))
        begun.wait()
        #expect(queue.add(jobs[1]))
        #expect(queue.add(jobs[2]))
        #expect(!queue.add(jobs[3]))
        queue.drop(tickets[1])
        #expect(queue.add(jobs[3]))
        #expect(queue.waiting == 2)
        for _ in 0..<3 { mayEnd.signal() }
        begun.wait()
        begun.wait()
        queue.close()
        #expect(gone.load(ordering: .relaxed) == 1)
    }

    @Test("a caller that went away before its turn is dropped without the work")
    func cancellation() async throws {
        let pool = try HashingPool(parameters: Self.slow, workers: 1, random: SystemRandom())
        let busy = Task { try await pool.verify("x", against: nil) }
        while pool.hashesComputed == 0 { await Task.yield() }
        let gone = Task { try await pool.verify("y", against: nil) }
        while pool.waiting == 0 { await Task.yield() }
        gone.cancel()
        await #expect(throws: CancellationError.self) { try await gone.value }
        #expect(try await !busy.value)
        #expect(pool.hashesComputed == 1)
    }

    #if os(Linux)
        @Test("its threads run below the priority of the rest")
        func priority() async throws {
            let pool = try HashingPool(parameters: Self.cheap, workers: 1, random: SystemRandom())
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
