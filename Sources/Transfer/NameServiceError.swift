/// Why a host's addresses are not known.
public enum NameServiceError: Error, Sendable, Equatable {
    /// As many questions hang as may.
    case busy
    case timedOut
}
