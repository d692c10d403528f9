/// Work that goes on as long as the server runs.
protocol BackgroundService: Sendable {
    /// Works until `stop`, then finishes what is at work and returns. Where its task is cancelled, it gives that up.
    func run(until stop: StopSignal) async
}
