import Foundation
import System
import Testing

@Suite struct FilesTests {
    @Test(
        "The folder of a path is the part before its last name",
        arguments: [
            ("a/b", "a"), ("a//b", "a"), ("/a/b/c", "/a/b"), ("/a", "/"), ("a", "."), ("a/b/", "a"), ("/", "/"),
            ("", "."), (".", "."), ("ä/ö", "ä"),
        ])
    func folders(_ path: String, _ folder: String) { #expect(Files.folder(of: path) == folder) }

    @Test("The server makes folders with access for its own user only, and lists and reads files in them")
    func reading() throws {
        let top = FileManager.default.temporaryDirectory.appending(path: "files-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: top) }
        let folder = "\(top)/a/b"
        #expect(!Files.exists(folder) && Files.names(in: folder) == nil)
        Files.makeFolder(folder)
        Files.makeFolder(folder)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(FileManager.default.createFile(atPath: "\(folder)/file", contents: Data(bytes)))
        #expect(Files.exists("\(folder)/file") && Files.names(in: folder) == ["file"])
        #expect(Files.read("\(folder)/file") == bytes)
        #expect(Files.read("\(folder)/other") == nil && Files.read(folder) == nil)
    }

    @Test("A folder counts as open to others if other users may write to it or replace it")
    func openFolders() throws {
        let top = FileManager.default.temporaryDirectory.appending(path: "files-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: top) }
        let folder = "\(top)/a/b"
        Files.makeFolder(folder)
        #expect(!Files.isFolderOpenToOthers(folder), "also below a sticky /tmp")
        #expect(chmod("\(top)/a", 0o777) == 0)
        #expect(Files.isFolderOpenToOthers(folder))
        #expect(chmod("\(top)/a", 0o1777) == 0)
        #expect(!Files.isFolderOpenToOthers(folder) && Files.isFolderOpenToOthers("\(top)/a"))
        #expect(chmod("\(top)/a", 0o700) == 0 && chmod(folder, 0o770) == 0)
        #expect(Files.isFolderOpenToOthers(folder))
        #expect(!Files.isOfUnrelatedUser(folder, home: top) && !Files.isOfUnrelatedUser("\(top)/none", home: top))
        #expect(Files.areSame(folder, "\(top)/a/../a/b") && !Files.areSame(folder, top))
    }

    @Test("The environment that the program reads is the one it was started with")
    func environment() { #expect(Environment.variables["PATH"] == ProcessInfo.processInfo.environment["PATH"]) }
}
