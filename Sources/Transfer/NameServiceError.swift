/// Why a host's addresses are not known.
public enum NameServiceError: Error, Sendable, Equatable {
    /// Too many questions are open.
    case busy
    case timedOut
}
