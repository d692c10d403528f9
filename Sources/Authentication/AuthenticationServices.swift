public import Audit
public import Cryptography
public import Directory
public import Storage
public import Values

/// What this module offers the modules above it. Users and their deletion are apart, because commands need them too.
public struct AuthenticationServices: Sendable {
    public let signIn: PasswordSignIn
    public let sessions: Sessions
    public let sessionList: SessionList
    public let verifications: Verifications
    public let mailSignIn: MailSignIn
    public let passwordless: Passwordless
    public let addressChange: AddressChange
    public let phoneVerification: PhoneVerification
    public let signUp: SignUp
    public let appSignUp: AppSignUp
    public let passwordReset: PasswordReset
    public let personalData: PersonalData
    public let logins: Logins

    /// - Parameters:
    ///   - codeKey: the key of mailed codes.
    ///   - tables: every table, in the order in which the copy of a user's data shows them.
    public init(
        database: any Database, clock: any WallClock, random: any RandomSource, hashing: HashingPool,
        events: UserEvents, audit: AuditLog, codeKey: [UInt8], tables: [StoredTable]
    ) {
        signIn = PasswordSignIn(
            database: database, hashing: hashing, clock: clock, random: random, audit: audit)
        sessions = Sessions(database: database, clock: clock, events: events)
        sessionList = SessionList(database: database, clock: clock, events: events)
        verifications = Verifications(database: database, clock: clock, random: random, codeKey: codeKey)
        mailSignIn = MailSignIn(database: database, verifications: verifications, clock: clock, events: events)
        passwordless = Passwordless(
            database: database, verifications: verifications, signIn: mailSignIn, clock: clock, random: random)
        addressChange = AddressChange(database: database, verifications: verifications, clock: clock, events: events)
        phoneVerification = PhoneVerification(
            database: database, verifications: verifications, clock: clock, events: events)
        signUp = SignUp(
            database: database, verifications: verifications, hashing: hashing, clock: clock, random: random,
            events: events)
        appSignUp = AppSignUp(
            database: database, verifications: verifications, hashing: hashing, clock: clock, random: random,
            events: events)
        passwordReset = PasswordReset(
            database: database, verifications: verifications, hashing: hashing, clock: clock, random: random,
            events: events)
        personalData = PersonalData(database: database, clock: clock, tables: tables)
        logins = Logins(database: database)
    }
}
