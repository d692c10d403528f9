/// Work that runs as long as the server does.
protocol BackgroundService: Sendable {
    /// Works until `stop`, then finishes work in progress and returns. Abandons that work when its task is cancelled.
    func run(until stop: StopSignal) async
}

/// Services that stop in reverse order: each ends before the one in front of it is told to stop.
struct BackgroundServices: Sendable {
    let services: [any BackgroundService]
    /// How long all of them together may take to stop. Services that still run then are cancelled.
    let grace: Duration
    /// Called a second before the grace time is over: it refuses remaining work, so that its requests still get an
    /// answer.
    var inTheLastSecond: @Sendable () -> Void = {}

    /// Runs them until `stop`, and returns when all have ended.
    func run(until stop: StopSignal) async {
        await withTaskGroup { group in
            group.addTask { await run(services[...], until: stop) }
            group.addTask {
                await stop.wait()
                guard (try? await Task.sleep(for: grace - .seconds(1))) != nil else { return }
                inTheLastSecond()
                try? await Task.sleep(for: min(grace, .seconds(1)))
            }
            // All have ended, or the grace time is over.
            await group.next()
            group.cancelAll()
        }
    }

    private func run(_ services: ArraySlice<any BackgroundService>, until stop: StopSignal) async {
        guard let service = services.first else { return await stop.wait() }
        let end = StopSignal()
        await withTaskGroup { group in
            group.addTask { await service.run(until: end) }
            await run(services.dropFirst(), until: stop)
            end.send()
        }
    }
}
