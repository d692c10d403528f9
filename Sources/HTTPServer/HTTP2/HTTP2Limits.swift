/// What one HTTP/2 connection may ask of the server, in addition to the limits of both protocols.
struct HTTP2Limits: Sendable {
    /// Streams open at once (RFC 9113 §5.1.2).
    var streams = 100
    /// Frames that carry nothing, beyond those that requests and responses explain: how many at once, and per second.
    var idleFrames = (burst: 1_000, rate: 50)
    /// Streams reset by either side: how many at once, and per second.
    var resets = (burst: 1_000, rate: 33)
    /// Unanswered PINGs and SETTINGS of the peer.
    var unreadAcknowledgements = 100
    /// Frames other than DATA that wait to be sent: for each stream a header block, a reset and two window updates, and
    /// the acknowledgements.
    var queuedFrames = 500
    /// Bytes of a streamed response that wait for the peer's window.
    var streamedBytes = 64 * 1024
    /// No request begins while more bytes than this wait for the peer's windows. Most of a hundred pages fit.
    var unsentBytes = 1024 * 1024
    /// Bytes of output made at a time.
    var outputBytes = 64 * 1024
}

/// A budget that is spent, and that refills with time up to its first value.
struct Allowance {
    private let burst: Int
    private let perSecond: Int
    private var left: Int
    private var since: Milliseconds

    init(burst: Int, perSecond: Int, now: Milliseconds) {
        self.burst = burst
        self.perSecond = perSecond
        left = burst
        since = now
    }

    /// Takes one. False when none is left.
    mutating func spend(at now: Milliseconds) -> Bool {
        if left == 0 { refill(at: now) }
        guard left > 0 else { return false }
        left -= 1
        return true
    }

    mutating func grant(_ count: Int) { left = min(burst, left + count) }

    private mutating func refill(at now: Milliseconds) {
        // After this time it is full in any case.
        let elapsed = min(max(0, now - since), Milliseconds(burst) * 1_000)
        let grown = Int(elapsed) * perSecond / 1_000
        guard grown > 0 else { return }
        grant(grown)
        since = now
    }
}

/// Counts a connection's incoming frames that carry nothing, because nghttp2 accepts them without limit.
///
/// Empty and tiny DATA, PING, SETTINGS, PRIORITY, RST_STREAM, WINDOW_UPDATE, CONTINUATION and unknown frames are each
/// legal (RFC 9113 §10.5). Each request allows some, and so do sent bytes, which cause window updates.
struct FrameMeter {
    private static let preface = 24
    /// DATA frames smaller than this count, except the last one of a body.
    private static let tinyData = 32
    private static let perRequest = 8
    private static let bytesSentPerFrame = 1_024

    private var allowance: Allowance
    /// Bytes to skip: the preface, then payloads.
    private var skip = preface
    /// The fields of a frame's 9-byte header (RFC 9113 §4.1), as far as they have come.
    private var headerBytes = 0
    private var length = 0
    private var kind: UInt8 = 0
    private var flags: UInt8 = 0
    private var bytesSent = 0

    init(limits: HTTP2Limits, now: Milliseconds) {
        allowance = Allowance(burst: limits.idleFrames.burst, perSecond: limits.idleFrames.rate, now: now)
    }

    /// Counts the frames in `bytes`. False when there were too many.
    mutating func receive(_ bytes: Span<UInt8>, now: Milliseconds) -> Bool {
        var position = 0
        while position < bytes.count {
            if skip > 0 {
                let step = min(skip, bytes.count - position)
                skip -= step
                position += step
                continue
            }
            let byte = bytes[position]
            position += 1
            switch headerBytes {
            case 0...2: length = length << 8 | Int(byte)
            case 3: kind = byte
            case 4: flags = byte
            default: break
            }
            headerBytes += 1
            guard headerBytes == 9 else { continue }
            guard count(now: now) else { return false }
            skip = length
            headerBytes = 0
            length = 0
        }
        return true
    }

    mutating func send(_ count: Int) {
        bytesSent += count
        allowance.grant(bytesSent / Self.bytesSentPerFrame)
        bytesSent %= Self.bytesSentPerFrame
    }

    private mutating func count(now: Milliseconds) -> Bool {
        let endsStream = flags & 0x1 != 0
        let isPadded = flags & 0x8 != 0
        switch kind {
        case 0 where endsStream || (length >= Self.tinyData && !isPadded): return true
        case 1:
            allowance.grant(Self.perRequest)
            return true
        default: return allowance.spend(at: now)
        }
    }
}
