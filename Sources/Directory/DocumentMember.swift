public import JSON

/// The declaration of a member of a document: what it holds, when and by whom it can be set, and what it means. The
/// checks of requests, the commands and the description of the API read it.
public struct DocumentMember: Sendable {
    /// When a document has the member.
    public struct Uses: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let create = Uses(rawValue: 1)
        public static let change = Uses(rawValue: 2)
        public static let answer = Uses(rawValue: 4)
        /// An answer that is given once, to what made the thing.
        public static let firstAnswer = Uses(rawValue: 8)

        public static let usual: Uses = [.create, .change, .answer]
        /// It cannot change.
        public static let fixed: Uses = [.create, .answer]
        /// It is never shown.
        public static let secret: Uses = [.create, .change]
    }

    public let name: String
    public let schema: Schema
    public let uses: Uses
    /// Whether something new must have it.
    public let isRequired: Bool
    /// What something new has without it.
    public let standard: JSON?
    /// Who may set it when the thing is made.
    public let setters: AdministratorRoles
    /// Who may set it later.
    public let changers: AdministratorRoles
    public let meaning: String

    public init(
        _ name: String, _ schema: Schema, as uses: Uses = .usual, isRequired: Bool = false,
        default standard: JSON? = nil, by setters: AdministratorRoles = .administrators,
        changedBy changers: AdministratorRoles? = nil, _ meaning: String
    ) {
        self.name = name
        self.schema = schema
        self.uses = uses
        self.isRequired = isRequired
        self.standard = standard
        self.setters = setters
        self.changers = changers ?? setters
        self.meaning = meaning
    }
}
