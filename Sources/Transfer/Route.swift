import Values

/// Where a transfer connects to, whatever its URL's host is called.
///
/// libcurl keeps the addresses of names for all transfers of a thread. So the name that it is given here is made of the
/// addresses themselves: whichever transfer left it, it leads to the same place.
struct Route {
    let scheme: String
    let addresses: [IPAddress]
    let port: Int

    /// For CURLOPT_CONNECT_TO: every host and port of the URL become this name.
    var connection: String { "::\(name):\(port)" }

    /// For CURLOPT_RESOLVE; the plus lets the entry grow old.
    var resolution: String {
        let list = addresses.map { address in
            let text = address.description
            return text.contains(":") ? "[\(text)]" : text
        }
        return "+\(name):\(port):\(list.joined(separator: ","))"
    }

    /// RFC 2606 §2: nobody's domain. A letter stands first, so that it is no address.
    private var name: String {
        // libcurl takes names of up to 255 bytes here; only a transfer that is alone on its thread has several addresses.
        let first = addresses.first.map { $0.description.replacing(":", with: "-") } ?? ""
        return "a\(addresses.count)-\(first).invalid"
    }
}
