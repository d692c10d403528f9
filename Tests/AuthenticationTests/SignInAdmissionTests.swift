import Audit
import Cryptography
import Storage
import TestSupport
import Testing

@testable import Authentication

@Suite("Admission of sign-ins")
struct SignInAdmissionTests {
    /// A database that must not be used.
    private struct Untouched: Database {
        func read<Value: Sendable>(
            _ work: @escaping @Sendable (any Transaction) throws -> Value
        ) async throws -> Value { throw StorageError.unavailable("it was read") }

        func write<Value: Sendable>(
            _ work: @escaping @Sendable (any Transaction) throws -> Value
        ) async throws -> Value { throw StorageError.unavailable("it was written") }

        func close() async {}
    }

    @Test("Sign-ins from all networks of one IPv6 site (/48) count as one sender in the sign-in queue")
    func sites() {
        let networks = ["2001:db8:7:1::/64", "2001:db8:7:ffff::/64"]
        #expect(Set(networks.map(HashingPool.sender)) == ["2001:db8:7::/48"])
        #expect(HashingPool.sender("2001:db8:8:1::/64") == "2001:db8:8::/48")
        #expect(HashingPool.sender("192.0.2.1") == "192.0.2.1")
    }

    @Test("A sign-in that finds the queue full is turned away before the database is read")
    func turnedAwayBefore() async throws {
        let hashing = HashingPool(
            parameters: PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1), workers: 1, queueLimit: 0,
            random: SystemRandom())
        let signIn = PasswordSignIn(
            database: Untouched(), hashing: hashing, clock: ManualClock(), random: SystemRandom(),
            audit: AuditLog(database: Untouched(), clock: ManualClock(), random: SystemRandom()))
        func check() async throws {
            _ = try await signIn.check(username: "ada@example.com", password: "a guess", address: "192.0.2.1")
        }
        try await hashing.admit("192.0.2.1") {
            let refusal = await #expect(throws: PasswordSignIn.Refusal.self) { try await check() }
            guard case .overloaded = refusal else { return #expect(Bool(false), "refused, but not for lack of room") }
        }
        await #expect(throws: StorageError.self, "with room there is, it is asked") { try await check() }
    }
}
