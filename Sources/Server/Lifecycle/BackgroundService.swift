/// Work that runs as long as the server does.
protocol BackgroundService: Sendable {
    /// Works until `stop`, then finishes work in progress and returns. Abandons that work when its task is cancelled.
    func run(until stop: StopSignal) async
}
