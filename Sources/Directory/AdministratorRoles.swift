/// What a client's own tokens make it, by their scope, for the whole deployment or for one merchant. A route of
/// administration declares which of these may call it.
public struct AdministratorRoles: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `admin` of the platform's client: may do everything.
    public static let platform = AdministratorRoles(rawValue: 1)
    /// `admin:merchant` of a merchant's client: sees and changes what is the merchant's.
    public static let merchant = AdministratorRoles(rawValue: 2)
    /// `admin:support`: reads, and helps users, without a way into their accounts.
    public static let platformSupport = AdministratorRoles(rawValue: 4)
    public static let merchantSupport = AdministratorRoles(rawValue: 8)
    /// `admin:audit`: reads events and settings.
    public static let platformAudit = AdministratorRoles(rawValue: 16)
    public static let merchantAudit = AdministratorRoles(rawValue: 32)

    /// Who changes settings.
    public static let administrators: Self = [.platform, .merchant]
    public static let support: Self = [.platformSupport, .merchantSupport]
    public static let audit: Self = [.platformAudit, .merchantAudit]
    /// Who reads users, and helps them.
    public static let helpers: Self = [.administrators, .support]
    public static let all: Self = [.helpers, .audit]
    public static let ofMerchants: Self = [.merchant, .merchantSupport, .merchantAudit]

    /// Each role with its scope, whether it is of merchants' clients, and its name; the narrow ones first.
    private static let table: [(role: Self, scope: String, isOfMerchant: Bool)] = [
        (.platformAudit, Scope.adminAudit, false), (.merchantAudit, Scope.adminAudit, true),
        (.platformSupport, Scope.adminSupport, false), (.merchantSupport, Scope.adminSupport, true),
        (.platform, Scope.admin, false), (.merchant, Scope.adminMerchant, true),
    ]

    /// The roles of a client with `scope`: of a merchant's, or of the platform's.
    public init(_ scope: Scope, ofMerchant: Bool) {
        self = Self(Self.table.filter { $0.isOfMerchant == ofMerchant && scope.contains($0.scope) }.map(\.role))
    }

    /// The narrowest scope that gives a client one of the roles; nil if none does.
    public func scope(ofMerchant: Bool) -> String? {
        Self.table.first { $0.isOfMerchant == ofMerchant && contains($0.role) }?.scope
    }

    /// The scopes that give one of the roles, each with the clients that get it.
    public var scopes: [(scope: String, isOfMerchant: Bool)] {
        Self.table.filter { contains($0.role) }.map { ($0.scope, $0.isOfMerchant) }
    }
}
