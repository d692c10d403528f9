public import Audit
public import Cryptography
public import Storage
public import Values

extension Administrator {
    /// What a change by modules that know no authority runs in its transaction: throws unless the administrator may
    /// still make it, and stores the event `kind`.
    public func writing(
        _ kind: AuditEvent.Kind, on subject: Party, of user: UserID? = nil, at now: Timestamp,
        _ random: any RandomSource
    ) -> @Sendable (any Transaction) throws -> Void {
        let trail = AuditTrail(by: actor, at: now, random: random)
        return { db in
            try confirm(in: db)
            try trail.record(kind, on: subject, of: user, in: db)
        }
    }
}
