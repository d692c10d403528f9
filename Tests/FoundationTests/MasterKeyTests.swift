import Cryptography
import Foundation
import Keys
import System
import Testing

@Suite("The master key") struct MasterKeyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("The master key is read from the base64 of exactly 32 bytes")
    func parsing() throws {
        let text = Data(0..<32).base64EncodedString()
        let key = try MasterKey(base64: " \(text)\n")
        let sealed = key.sealing(for: "x").seal([1], context: "", random: SystemRandom())
        #expect(try MasterKey(base64: text).sealing(for: "x").open(sealed, context: "") == [1])
        for wrong in ["", "AAAA", String(text.dropLast(4)), text + "AAAA", text + text, "!" + text.dropFirst()] {
            #expect(throws: MasterKeyError.malformed) { try MasterKey(base64: wrong) }
        }
    }

    @Test("The master key file is readable by its owner alone, whatever the umask, and is never overwritten")
    func file() throws {
        let file = MasterKeyFile(path: folder.path("a.key"))
        #expect(try file.read() == nil)
        let key = MasterKey.random(from: SystemRandom())
        try file.create(key)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(!Files.isOpenToOthers(file.path))
        let sealed = key.sealing(for: "x").seal([1], context: "", random: SystemRandom())
        #expect(try file.read()?.sealing(for: "x").open(sealed, context: "") == [1])

        #expect(throws: MasterKeyError.exists(path: file.path)) { try file.create(.random(from: SystemRandom())) }
        #expect(try file.read()?.sealing(for: "x").open(sealed, context: "") == [1])

        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        #expect(Files.isOpenToOthers(file.path))
    }

    @Test("The master key file is complete as soon as it exists, and nothing else is left beside it")
    func halfAFile() async throws {
        let key = MasterKey.random(from: SystemRandom())
        for number in 1...100 {
            let file = MasterKeyFile(path: folder.path("\(number).key"))
            async let found = Task.detached {
                while true { if let key = try file.read() { return key } }
            }.value
            try file.create(key)
            #expect(throws: MasterKeyError.exists(path: file.path)) { try file.create(key) }
            _ = try await found
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 100)
    }

    @Test("A malformed master key file is an error, and one that cannot be written is reported with its path")
    func unreadable() throws {
        let file = MasterKeyFile(path: folder.path("b.key"))
        for text in ["", "not a key", String(repeating: "A", count: 4096)] {
            try Data(text.utf8).write(to: URL(filePath: file.path))
            #expect(throws: MasterKeyError.malformed) { try file.read() }
        }
        #expect(throws: MasterKeyError.self) { try MasterKeyFile(path: folder.path).read() }
        let error = #expect(throws: MasterKeyError.self) {
            try MasterKeyFile(path: folder.path("no/such/folder.key")).create(.random(from: SystemRandom()))
        }
        #expect("\(error as Any)".contains("no/such/folder.key"))
    }

    @Test("A sealed value opens only for the purpose and the row that it was sealed for")
    func places() throws {
        let seal = Seal(masterKey: .random(from: SystemRandom()), random: SystemRandom())
        let other = Seal(masterKey: .random(from: SystemRandom()), random: SystemRandom())
        for place in SealedPlace.allCases {
            let sealed = seal.seal("secret ø", place, row: "1")
            #expect(try seal.open(sealed, place, row: "1") == "secret ø")
            #expect(throws: (any Error).self) { try seal.open(sealed, place, row: "2") }
            #expect(throws: (any Error).self) { try other.open(sealed, place, row: "1") }
            for elsewhere in SealedPlace.allCases where elsewhere != place {
                #expect(throws: (any Error).self) { try seal.open(sealed, elsewhere, row: "1") }
            }
        }
    }

    @Test("A sealed successor of a refresh token opens only with the old token, its row and the master key")
    func successors() {
        let seal = Seal(masterKey: .random(from: SystemRandom()), random: SystemRandom())
        let sealed = seal.seal("next", .successor, of: "old", row: "r")
        #expect(seal.open(sealed, .successor, of: "old", row: "r") == "next")
        #expect(seal.open(sealed, .successor, of: "0ld", row: "r") == nil)
        #expect(seal.open(sealed, .successor, of: "old", row: "s") == nil)
        let other = Seal(masterKey: .random(from: SystemRandom()), random: SystemRandom())
        #expect(other.open(sealed, .successor, of: "old", row: "r") == nil)
    }
}
