package import Storage
package import Values

/// What one round of the sweeper did about owners that are to be deleted.
public struct DeletionRound: Sendable {
    /// The most owners that a round looks at.
    package static let most = 20

    /// How many have been deleted with all that they owned.
    public private(set) var gone = 0
    /// Whether there may be more to delete.
    public private(set) var isBehind = false
    /// The owners that could not be deleted yet, and why.
    public private(set) var failures: [(owner: String, error: any Error)] = []

    /// Finishes `owners` one after the other within `budget`. A failure does not hold up the others.
    package init<Entity>(
        of owners: [Identifier<Entity>], within budget: BulkErasure.Budget,
        _ finish: (Identifier<Entity>, inout BulkErasure.Budget) async throws -> Bool
    ) async {
        var budget = budget
        for owner in owners {
            do {
                guard try await finish(owner, &budget) else {
                    isBehind = true
                    return
                }
                gone += 1
            } catch {
                failures.append((owner.text, error))
            }
        }
        isBehind = owners.count == Self.most && gone > 0
    }
}
