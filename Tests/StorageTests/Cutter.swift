import Foundation
import Synchronization

/// A proxy between the driver and PostgreSQL's socket, which can cut the connection at a chosen word, or fall silent.
final class Cutter: Sendable {
    private enum Plan {
        case none
        /// Cuts before the word reaches the server.
        case before(String)
        /// The server gets the word, but its answer is withheld.
        case after(String)
        /// The same, and the connection stays open.
        case muteAfter(String)
    }

    private struct State {
        var plan = Plan.none
        var refuses = false
        var isSilent = false
        var mostGuests = Int.max
        var knocks = 0
        var guests = 0
        var withheld = 0
    }

    /// The URL that the driver connects to.
    let url: String
    private let listener: Int32
    private let folder: String
    private let server: String
    private let state = Mutex(State())

    init(serverURL: String) throws {
        guard var url = URLComponents(string: serverURL),
            let host = url.queryItems?.first(where: { $0.name == "host" })?.value
        else { throw POSIXError(.EDESTADDRREQ) }
        var template = Array("/tmp/spindle-cut-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(.EIO) }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        server = host + "/.s.PGSQL.5432"
        let ours = URLQueryItem(name: "host", value: folder)
        url.queryItems = url.queryItems?.map { $0.name == "host" ? ours : $0 }
        self.url = url.string ?? ""
        listener = streamSocket()
        guard Self.with(folder + "/.s.PGSQL.5432", bind, listener) else { throw POSIXError(.EADDRINUSE) }
        guard listen(listener, 16) == 0 else { throw POSIXError(.EADDRINUSE) }
        Thread { [listener, weak self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                self?.join(client) ?? ignore(close(client))
            }
        }.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Delivers the next `word`, but not its answer.
    func cutNextAnswer(to word: String) { state.withLock { $0.plan = .after(word) } }

    /// Delivers the next `word`, and nothing more of that connection.
    func muteAfter(_ word: String) { state.withLock { $0.plan = .muteAfter(word) } }

    /// Holds back everything until it is no longer silent. Connections stay open.
    var isSilent: Bool {
        get { state.withLock(\.isSilent) }
        set { state.withLock { $0.isSilent = newValue } }
    }

    /// Returns once the silent server has been kept from something.
    func withholdsSomething() async throws {
        let until = ContinuousClock.now + .seconds(60)
        while state.withLock(\.withheld) == 0, ContinuousClock.now < until {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Cuts the connection instead of delivering the next `word`.
    func cutBefore(_ word: String) { state.withLock { $0.plan = .before(word) } }

    /// Cuts open connections at their next word, and accepts no new ones.
    var refuses: Bool {
        get { state.withLock(\.refuses) }
        set { state.withLock { $0.refuses = newValue } }
    }

    /// The total number of connections to accept.
    var mostGuests: Int {
        get { state.withLock(\.mostGuests) }
        set { state.withLock { $0.mostGuests = newValue } }
    }

    /// How many connections were attempted.
    var knocks: Int { state.withLock(\.knocks) }

    private func letsIn() -> Bool {
        state.withLock { state in
            state.knocks += 1
            guard !state.refuses, state.guests < state.mostGuests else { return false }
            state.guests += 1
            return true
        }
    }

    private func join(_ client: Int32) {
        let server = streamSocket()
        guard letsIn(), Self.with(self.server, connect, server) else { return ignore(close(client), close(server)) }
        let isCut = IsCut()
        Thread { [weak self] in
            pump(from: client, to: server) { bytes in
                if self?.isSilent ?? false { self?.state.withLock { $0.withheld += 1 } }
                while self?.isSilent ?? false { Thread.sleep(forTimeInterval: 0.01) }
                return self?.lets(bytes, through: isCut) ?? false
            }
        }.start()
        Thread { [weak self] in
            pump(from: server, to: client) { _ in
                while self?.isSilent ?? false { Thread.sleep(forTimeInterval: 0.01) }
                while isCut.isMute.withLock(\.self), self != nil { Thread.sleep(forTimeInterval: 0.01) }
                return !isCut.value.withLock(\.self)
            }
        }.start()
    }

    private func lets(_ bytes: [UInt8], through isCut: IsCut) -> Bool {
        state.withLock { state in
            switch state.plan {
            case .before(let word) where bytes.contains(Array(word.utf8)):
                state.plan = .none
                return false
            case .after(let word) where bytes.contains(Array(word.utf8)):
                state.plan = .none
                isCut.value.withLock { $0 = true }
                return true
            case .muteAfter(let word) where bytes.contains(Array(word.utf8)):
                state.plan = .none
                isCut.isMute.withLock { $0 = true }
                return true
            default: return !state.refuses
            }
        }
    }

    private static func with(
        _ path: String, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ descriptor: Int32
    ) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}

/// Whether the answers of one connection are withheld.
private final class IsCut: Sendable {
    let value = Mutex(false)
    let isMute = Mutex(false)
}

private func ignore(_ results: Int32...) {}

private func streamSocket() -> Int32 { socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }

/// Copies until an end closes or `lets` returns false, then shuts both down.
private func pump(from source: Int32, to target: Int32, while lets: ([UInt8]) -> Bool) {
    var buffer = [UInt8](repeating: 0, count: 65536)
    copying: while case let count = read(source, &buffer, buffer.count), count > 0 {
        guard lets(Array(buffer.prefix(count))) else { break }
        var sent = 0
        while sent < count {
            let written = buffer.withUnsafeBytes { bytes in
                send(target, bytes.baseAddress.map { $0 + sent }, count - sent, Int32(MSG_NOSIGNAL))
            }
            guard written > 0 else { break copying }
            sent += written
        }
    }
    // Shut down but not closed: the other direction's thread still holds the descriptors.
    shutdown(source, Int32(SHUT_RDWR))
    shutdown(target, Int32(SHUT_RDWR))
}
