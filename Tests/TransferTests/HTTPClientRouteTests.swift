import Foundation
import Testing
import Transfer
import Values

@Suite("Where the HTTP client connects") struct HTTPClientRouteTests {
    private let client = Requests.client()

    @Test(
        "The HTTP client connects to the given IP address without looking up the host, and keeps its name",
        arguments: ["nobody.invalid", "localhost", "127.1", "2130706433", "10.0.0.1", "[::1]", "[2001:db8::1]"])
    func name(_ host: String) async throws {
        let server = try ScriptedServer("HTTP/1.1 204 No Content\r\n\r\n")
        let url = "http://\(host):\(server.port)/"
        #expect(try await client.send(Requests.request(url)).status == 204)
        #expect(server.requests.first?.head.contains("Host: \(host):\(server.port)") == true)
    }

    @Test("Requests for one host at two IP addresses go each to its own")
    func addresses() async throws {
        let server = try ScriptedServer("HTTP/1.1 204 No Content\r\n\r\n")
        let url = "http://host.invalid:\(server.port)/"
        for _ in 1...3 {
            #expect(try await client.send(Requests.request(url)).status == 204)
            await #expect(throws: TransferError.self) {
                try await client.send(Requests.request(url, at: IPAddress("127.0.0.2")))
            }
        }
        #expect(server.connections == 3)
    }

    @Test("A forbidden IP address is refused at the last moment, however it was checked before")
    func refused() async throws {
        let server = try ScriptedServer("HTTP/1.1 204 No Content\r\n\r\n")
        let client = Requests.client { $0 != Requests.loopback }
        await #expect(throws: TransferError.refusedAddress) {
            try await client.send(Requests.request("http://host.invalid:\(server.port)/"))
        }
        #expect(server.connections == 0)
    }

    @Test("The HTTP client uses no proxy of the environment")
    func proxy() async throws {
        let proxy = try ScriptedServer("HTTP/1.1 500 Proxy\r\n\r\n")
        let server = try ScriptedServer("HTTP/1.1 204 No Content\r\n\r\n")
        // Set once and never unset: a first variable frees nothing that another thread may be reading.
        setenv("http_proxy", proxy.url, 1)
        #expect(try await client.send(Requests.request(server.url)).status == 204)
        #expect(proxy.connections == 0)
    }

    @Test("A refused connection is a failure of the request")
    func nobody() async throws {
        let server = try ScriptedServer("")
        let url = server.url
        server.stop()
        await #expect(throws: TransferError.self) { try await client.send(Requests.request(url)) }
    }

    @Test("The HTTP client sends nothing to a server that does not speak TLS")
    func noTLS() async throws {
        let server = try ScriptedServer("HTTP/1.1 200 OK\r\n\r\n")
        await #expect(throws: TransferError.self) {
            try await client.send(Requests.request("https://127.0.0.1:\(server.port)/", time: .milliseconds(200)))
        }
        #expect(server.requests.isEmpty)
    }
}
