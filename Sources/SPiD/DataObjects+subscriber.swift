package import Directory
import Storage

extension DataObjects {
    /// Refunds the space of objects that are deleted with their user's connections.
    package static let subscriber = UserEvents.Subscriber(
        "DataObjects",
        [
            .on(.connectionsEnding, "gives back to the merchants what the user's data objects took") {
                event, user, _, db in
                guard case .connectionsEnding(let clients) = event else { return }
                try giveBack("d.user_id = \(user) AND d.client_id IN (\(list: clients))", in: db)
            }
        ])
}
