import Values

/// Where a transfer connects to, whatever the host in its URL is.
///
/// libcurl keeps the addresses of names for all transfers of a thread. So the name given to it here is made of the
/// addresses themselves: an entry left by any transfer leads to the same addresses.
struct Route {
    let scheme: String
    let addresses: [IPAddress]
    let port: Int

    /// For CURLOPT_CONNECT_TO: every host and port of the URL become this name.
    var connection: String { "::\(name):\(port)" }

    /// For CURLOPT_RESOLVE; the plus lets the entry expire.
    var resolution: String {
        let list = addresses.map { address in
            let text = address.description
            return text.contains(":") ? "[\(text)]" : text
        }
        return "+\(name):\(port):\(list.joined(separator: ","))"
    }

    /// A reserved domain (RFC 2606 §2). It begins with a letter, so it cannot be an address.
    private var name: String {
        // libcurl allows 255 bytes here. The first address is enough: only a transfer alone on its thread has several.
        let first = addresses.first.map { $0.description.replacing(":", with: "-") } ?? ""
        return "a\(addresses.count)-\(first).invalid"
    }
}
