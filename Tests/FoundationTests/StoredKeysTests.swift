import Cryptography
import Foundation
import JOSE
import JSON
import Keys
import Storage
import TestSupport
import Testing
import Values

@Suite("Keys in the database") struct StoredKeysTests {
    private let random = SystemRandom()
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func freshFile() -> MasterKeyFile { MasterKeyFile(path: folder.path("master.key")) }

    @Test(
        "An empty database gets a new master key, of which it stores only a check value",
        arguments: Backend.available)
    func firstStart(_ backend: Backend) async throws {
        let database = try await backend.open()
        let file = freshFile()
        let source = MasterKeySource.file(file, mayCreate: true)
        let key = try await source.masterKey(for: database, random: random)
        #expect(try await MasterKeyCheck(key).verify(database) == .right)
        let again = try await source.masterKey(for: database, random: random)
        #expect(try await MasterKeyCheck(again).verify(database) == .right)
        let stored = try await database.read { db in
            try db.rows("SELECT value FROM facts").map { try $0.get("value", as: String.self) }
        }
        let text = try String(contentsOfFile: file.path, encoding: .utf8).trimmingCharacters(in: .newlines)
        #expect(stored.count == 1 && !stored.joined().contains(text.prefix(20)))
        await database.close()
    }

    @Test(
        "A database with a master key accepts no other, and none is made in place of a lost key file",
        arguments: Backend.available)
    func lostKey(_ backend: Backend) async throws {
        let database = try await backend.open()
        let file = freshFile()
        _ = try await MasterKeySource.file(file, mayCreate: true).masterKey(for: database, random: random)
        try FileManager.default.removeItem(atPath: file.path)
        for mayCreate in [true, false] {
            await #expect(throws: MasterKeyError.missing(path: file.path)) {
                _ = try await MasterKeySource.file(file, mayCreate: mayCreate).masterKey(for: database, random: random)
            }
        }
        #expect(!FileManager.default.fileExists(atPath: file.path))
        let other = MasterKey.random(from: random)
        await #expect(throws: MasterKeyError.wrong) {
            _ = try await MasterKeySource.given(other).masterKey(for: database, random: random)
        }
        #expect(try await MasterKeyCheck(other).verify(database) == .wrong)
        await database.close()
    }

    @Test("A master key for a shared database must be given; none is made", arguments: Backend.available)
    func sharedDatabase(_ backend: Backend) async throws {
        let database = try await backend.open()
        let file = freshFile()
        await #expect(throws: MasterKeyError.notGiven(path: file.path)) {
            _ = try await MasterKeySource.file(file, mayCreate: false).masterKey(for: database, random: random)
        }
        let key = MasterKey.random(from: random)
        #expect(try await MasterKeyCheck(key).verify(database) == .absent)
        _ = try await MasterKeySource.given(key).masterKey(for: database, random: random)
        #expect(try await MasterKeyCheck(key).verify(database) == .right)
        await database.close()
    }

    @Test("A database with sealed values but no check value accepts no new master key", arguments: Backend.available)
    func takenCheck(_ backend: Backend) async throws {
        let database = try await backend.open()
        let key = try await MasterKeySource.given(.random(from: random)).masterKey(for: database, random: random)
        try await StoredSigningKeys(database: database, seal: Seal(masterKey: key, random: random))
            .createMissing(at: Timestamp(milliseconds: 1 * 1000))
        _ = try await database.write { try $0.execute("DELETE FROM facts") }
        await #expect(throws: MasterKeyError.wrong) {
            _ = try await MasterKeySource.given(.random(from: random)).masterKey(for: database, random: random)
        }
        await #expect(throws: MasterKeyError.self) {
            _ = try await MasterKeySource.file(freshFile(), mayCreate: true).masterKey(for: database, random: random)
        }
        await database.close()
    }

    @Test("One signing key of each algorithm is made, stored and sealed", arguments: Backend.available)
    func signingKeys(_ backend: Backend) async throws {
        let database = try await backend.open()
        let key = MasterKey.random(from: random)
        let store = StoredSigningKeys(database: database, seal: Seal(masterKey: key, random: random))
        let made = try await store.createMissing(PrivateKey.Algorithm.allCases, at: Timestamp(milliseconds: 1 * 1000))
        #expect(Set(made.map(\.algorithm)) == Set(PrivateKey.Algorithm.allCases))
        let again = try await store.createMissing(PrivateKey.Algorithm.allCases, at: Timestamp(milliseconds: 2 * 1000))
        #expect(again.isEmpty)
        let loaded = try await store.all()
        #expect(Set(loaded.map(\.id)) == Set(made.map(\.id)))
        let published = try AssertionKeys(
            keySet: JSON.members(["keys": .array(loaded.map(\.publicKey.json))]).text)
        for key in loaded {
            let token = key.sign(.members(["sub": "a"]), type: "at+jwt")
            let jwt = try await published.verify(token, allowed: [.rs256, .es256, .ps256, .edDSA])
            #expect(jwt.header["typ"] == "at+jwt" && jwt.header["kid"]?.string == key.id)
        }
        let other = StoredSigningKeys(
            database: database, seal: Seal(masterKey: MasterKey.random(from: random), random: random))
        await #expect(throws: StorageError.self) { _ = try await other.all() }
        await database.close()
    }

    @Test("A sealed signing key that was copied to another row is refused", arguments: Backend.available)
    func swappedRows(_ backend: Backend) async throws {
        let database = try await backend.open()
        let store = StoredSigningKeys(
            database: database, seal: Seal(masterKey: MasterKey.random(from: random), random: random))
        let keys = try await store.createMissing([.rs256, .es256], at: Timestamp(milliseconds: 1 * 1000))
        let (a, b) = (keys[0].id, keys[1].id)
        try await database.write { db in
            let sealed = try db.rows("SELECT sealed_private_key FROM signing_keys WHERE id = \(a)")[0]
                .get("sealed_private_key", as: String.self)
            try db.execute("UPDATE signing_keys SET sealed_private_key = \(sealed) WHERE id = \(b)")
        }
        await #expect(throws: StorageError.self) { _ = try await store.all() }
        await database.close()
    }
}
