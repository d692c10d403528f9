import Cryptography
import Keys
import Storage
import TestSupport
import Testing
import Values

@Suite("Rotation of signing keys") struct KeyRotationTests {
    private typealias Key = KeyRotation.Key
    private static let policy = KeyRotation.Policy(period: .days(90), lead: .days(1), tail: .days(31))

    private func plan(_ days: [Int64], on day: Int64, _ policy: KeyRotation.Policy = policy) -> [KeyRotation.Change] {
        KeyRotation.plan(
            days.map { Key(id: "day \($0)", algorithm: .rs256, signsFrom: Self.day($0)) }, now: Self.day(day),
            policy: policy)
    }
    private static func day(_ number: Int64) -> Timestamp { Timestamp(milliseconds: number * 86_400_000) }

    @Test("The next signing key is published before it signs, and the old one for some time after")
    func table() {
        #expect(plan([], on: 0).isEmpty)
        #expect(plan([0], on: 88).isEmpty)
        #expect(plan([0], on: 89) == [.make(.rs256, signsFrom: Self.day(90))])
        #expect(plan([0, 90], on: 89).isEmpty)
        #expect(plan([0, 90], on: 120).isEmpty)
        #expect(plan([0, 90], on: 121) == [.forget("day 0")])
        // No server ran for a year: the next key is still published before it signs.
        #expect(plan([0], on: 400) == [.make(.rs256, signsFrom: Self.day(401))])
        #expect(plan([0, 90, 180], on: 220) == [.forget("day 0"), .forget("day 90")])
        #expect(plan([0], on: 4000, .init(period: nil)).isEmpty)
    }

    @Test("Rotation never deletes the key that signs, and never makes two keys at once")
    func invariants() {
        for now in Int64(0)...500 {
            for keys in [[0], [0, 90], [0, 10, 20], [0, 500], [300, 301]] as [[Int64]] {
                let changes = plan(keys, on: now)
                let facts = keys.map { Key(id: "day \($0)", algorithm: .rs256, signsFrom: Self.day($0)) }
                if let current = KeyRotation.current(facts, now: Self.day(now)) {
                    #expect(!changes.contains(.forget(current.id)))
                }
                let made = changes.filter { if case .make = $0 { true } else { false } }
                #expect(made.count <= 1)
            }
        }
    }

    @Test("The signing keys of each algorithm rotate independently")
    func algorithms() {
        let keys = [
            Key(id: "r", algorithm: .rs256, signsFrom: Self.day(0)),
            Key(id: "e", algorithm: .es256, signsFrom: Self.day(50)),
        ]
        #expect(
            KeyRotation.plan(keys, now: Self.day(89), policy: Self.policy) == [.make(.rs256, signsFrom: Self.day(90))])
    }

    @Test("Nodes that rotate the signing keys at the same time make one new key", arguments: Backend.available)
    func race(_ backend: Backend) async throws {
        let (database, seal) = try await self.seal(backend)
        let keys = StoredSigningKeys(database: database, seal: seal)
        try await keys.createMissing([.es256], at: Self.day(0))
        await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { _ = try? await keys.rotate(Self.policy, at: Self.day(89)) } }
        }
        #expect(try await keys.all().map(\.signsFrom) == [Self.day(0), Self.day(90)])
    }

    @Test(
        "The key ring signs with the current key, and makes no key for an algorithm without one",
        arguments: Backend.available)
    func ring(_ backend: Backend) async throws {
        let (database, seal) = try await self.seal(backend)
        let clock = ManualClock(Self.day(0))
        let keys = StoredSigningKeys(database: database, seal: seal)
        let first = try #require(try await keys.createMissing([.edDSA], at: clock.now).first)
        let ring = KeyRing(keys: keys, clock: clock)
        #expect(try await ring.current(.edDSA).id == first.id)
        await #expect(throws: StorageError.self) { _ = try await ring.current(.es256) }
        #expect(try await ring.all().map(\.id) == [first.id])

        let lead = clock.now + KeyRing.shortestLead
        let second = try #require(try await keys.make(.edDSA, signsFrom: lead, at: clock.now))
        clock.advance(by: KeyRing.memory)
        #expect(try await ring.current(.edDSA).id == first.id)
        #expect(try await ring.all().map(\.id) == [first.id, second.id])
        clock.advance(by: KeyRing.shortestLead)
        #expect(try await ring.current(.edDSA).id == second.id)
        #expect(try await ring.key(first.id)?.id == first.id)
    }

    @Test(
        "A node whose clock is behind the creation of the first key signs with that key", arguments: Backend.available)
    func behind(_ backend: Backend) async throws {
        let (database, seal) = try await self.seal(backend)
        let keys = StoredSigningKeys(database: database, seal: seal)
        try await keys.createMissing([.edDSA], at: Self.day(10))
        _ = try await keys.make(.edDSA, signsFrom: Self.day(20), at: Self.day(10))
        let ring = KeyRing(keys: keys, clock: ManualClock(Self.day(3)))
        #expect(try await ring.current(.edDSA).signsFrom == Self.day(10))
        #expect(try await keys.all().count == 2)
    }

    @Test("Nodes that make the first signing key a moment apart make one key in all", arguments: Backend.available)
    func firstOfAll(_ backend: Backend) async throws {
        let (database, seal) = try await self.seal(backend)
        let keys = StoredSigningKeys(database: database, seal: seal)
        let now = Self.day(0)
        #expect(try await keys.make(.edDSA, signsFrom: now, at: now, isFirst: true) != nil)
        let later = now + .milliseconds(1)
        #expect(try await keys.make(.edDSA, signsFrom: later, at: later, isFirst: true) == nil)
        #expect(try await keys.all().count == 1)
        await database.close()
    }

    @Test(
        "An early rotation moves the planned next signing key forward instead of making another",
        arguments: Backend.available)
    func hastened(_ backend: Backend) async throws {
        let (database, seal) = try await self.seal(backend)
        let keys = StoredSigningKeys(database: database, seal: seal)
        try await keys.createMissing([.edDSA], at: Self.day(0))
        let planned = try #require(try await keys.make(.edDSA, signsFrom: Self.day(90), at: Self.day(89)))
        let soon = Self.day(89) + KeyRing.shortestLead
        #expect(try await keys.hasten(.edDSA, signsFrom: soon, at: Self.day(89))?.id == planned.id)
        #expect(try await keys.hasten(.edDSA, signsFrom: soon, at: Self.day(89)) == nil)
        #expect(try await keys.all().map(\.signsFrom) == [Self.day(0), soon])
        #expect(try await keys.hasten(.edDSA, signsFrom: Self.day(91), at: Self.day(90)) != nil, "the next one is made")
        #expect(try await keys.all().count == 3)
    }

    @Test(
        "A withdrawn signing key is deleted at once, and the planned key or a new one signs from then on",
        arguments: Backend.available)
    func withdrawn(_ backend: Backend) async throws {
        let (database, seal) = try await self.seal(backend)
        let keys = StoredSigningKeys(database: database, seal: seal)
        try await keys.createMissing([.edDSA, .es256], at: Self.day(0))
        func ids() async throws -> [String] { try await keys.all().filter { $0.algorithm == .edDSA }.map(\.id) }
        let first = try #require(try await ids().first)
        let second = try #require(try await keys.make(.edDSA, signsFrom: Self.day(2), at: Self.day(1)))
        let third = try #require(try await keys.make(.edDSA, signsFrom: Self.day(9), at: Self.day(3)))
        // The second key signs now. Earlier keys never sign again.
        #expect(try await keys.withdraw(second.id, at: Self.day(4))?.id == third.id)
        #expect(try await ids() == [first, third.id])
        #expect(try await keys.all().first { $0.id == third.id }?.signsFrom == Self.day(4))
        let made = try #require(try await keys.withdraw(third.id, at: Self.day(5)))
        #expect(made.signsFrom == Self.day(5))
        #expect(try await ids() == [first, made.id])
        // The withdrawal of a key that no longer signs, or does not yet, needs no replacement.
        let next = try #require(try await keys.make(.edDSA, signsFrom: Self.day(8), at: Self.day(6)))
        for id in [first, next.id] { #expect(try await keys.withdraw(id, at: Self.day(6))?.id == made.id) }
        #expect(try await ids() == [made.id])
        #expect(try await keys.withdraw(first, at: Self.day(6)) == nil)
        #expect(try await keys.all().count == 2, "other algorithms are left alone")
    }

    @Test("Concurrent withdrawals of one signing key make one replacement", arguments: Backend.available)
    func withdrawnTwice(_ backend: Backend) async throws {
        let (database, seal) = try await self.seal(backend)
        let keys = StoredSigningKeys(database: database, seal: seal)
        let first = try await keys.createMissing([.edDSA], at: Self.day(0))[0].id
        await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { _ = try? await keys.withdraw(first, at: Self.day(1)) } }
        }
        #expect(try await keys.all().map(\.signsFrom) == [Self.day(1)])
    }

    private func seal(_ backend: Backend) async throws -> (any Database, Seal) {
        let database = try await backend.open()
        return (database, Seal(masterKey: .random(from: SystemRandom()), random: SystemRandom()))
    }
}
