/// Why a host's addresses are not known.
public enum NameServiceError: Error, Sendable, Equatable {
    /// Too many look-ups are running.
    case busy
    case timedOut
}
