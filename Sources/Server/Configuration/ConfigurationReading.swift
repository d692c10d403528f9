import Keys
import Mail
import Values

/// Reads settings one by one, takes each from the first layer that has it, and collects the faults.
struct ConfigurationReading {
    private let layers: [ConfigurationLayer]
    private(set) var faults: [ConfigurationFault] = []
    /// The settings that were given, as text; of one that may hold a secret, only that it was.
    private(set) var given: [ConfigurationKey: String] = [:]

    init(layers: [ConfigurationLayer]) { self.layers = layers }

    /// The setting `key`, read by `parse`; nil when it is missing or faulty.
    mutating func value<Value>(
        _ key: ConfigurationKey, _ expected: String, _ parse: (String) -> Value?
    ) -> Value? {
        read(key, expected, { layer throws(ConfigurationLayer.Unreadable) in try layer.text(key) }, parse)
    }

    /// A list of which `parse` can read every item; empty when it is missing or faulty.
    mutating func list<Value>(
        _ key: ConfigurationKey, _ expected: String, _ parse: (String) -> Value?
    ) -> [Value] {
        read(key, expected, { layer throws(ConfigurationLayer.Unreadable) in try layer.list(key) }) { items in
            let values = items.compactMap(parse)
            return values.count == items.count ? values : nil
        } ?? []
    }

    /// A whole number within `range`.
    mutating func number(_ key: ConfigurationKey, of unit: String, within range: ClosedRange<Int>) -> Int? {
        value(key, "a whole number of \(unit) from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Where `key` was given; nil when it was not.
    func place(of key: ConfigurationKey) -> String? {
        layers.first { layer in
            do {
                // A list can be read from a setting of any form.
                return try layer.list(key) != nil
            } catch {
                return true
            }
        }?.place(key)
    }

    mutating func refuse(_ key: ConfigurationKey, _ expected: String) {
        faults.append(ConfigurationFault(key.rawValue, expected, at: place(of: key)))
    }

    private mutating func read<Raw, Value>(
        _ key: ConfigurationKey, _ expected: String,
        _ ask: (ConfigurationLayer) throws(ConfigurationLayer.Unreadable) -> Raw?, _ parse: (Raw) -> Value?
    ) -> Value? {
        for layer in layers {
            do {
                guard let raw = try ask(layer) else { continue }
                if let value = parse(raw) {
                    given[key] = key.mayHoldSecret ? "given" : (raw as? [String])?.joined(separator: ", ") ?? "\(raw)"
                    return value
                }
            } catch {}
            faults.append(ConfigurationFault(key.rawValue, expected, at: layer.place(key)))
            return nil
        }
        return nil
    }
}

extension ConfigurationReading {
    /// The realm is sent in a quoted string, which some clients read only up to its first backslash (RFC 9110 §5.6.4).
    mutating func basicRealm() -> String? {
        value(.basicRealm, "1 to 100 printable characters of ASCII, without \" and \\") { text in
            let isQuotable = text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
            return isQuotable && (1...100).contains(text.utf8.count) ? text : nil
        }
    }
}

extension ConfigurationReading {
    mutating func certificateFiles() -> SpindleConfiguration.CertificateFiles? {
        let certificate = value(.tlsCertificate, "the path of a PEM file") { $0 }
        let key = value(.tlsKey, "the path of a PEM file") { $0 }
        switch (certificate, key) {
        case (let certificate?, let key?): return .init(certificate: certificate, key: key)
        case (nil, nil): return nil
        case (nil, _): refuse(.tlsCertificate, "given with tls_key")
        case (_, nil): refuse(.tlsKey, "given with tls_certificate")
        }
        return nil
    }
}

/// The issuer, and the settings that depend on its scheme.
extension ConfigurationReading {
    /// The issuer; nil when it is faulty. The default is the origin of the address that the server listens on.
    mutating func issuer(at listen: ListenAddress, isTLS: Bool) -> IssuerURL? {
        let expected =
            "an absolute http or https URL without user, query and fragment, with a host, port and path that all "
            + "clients read alike"
        guard place(of: .issuer) != nil else {
            let issuer = URIParts("\(isTLS ? "https" : "http")://\(listen)")?.origin.flatMap(IssuerURL.init)
            if issuer == nil { refuse(.issuer, "given: no URL can have the host of listen") }
            return issuer
        }
        guard let issuer = value(.issuer, expected, IssuerURL.init) else { return nil }
        if isTLS, !issuer.isSecure { refuse(.issuer, "an https URL when tls_certificate is given") }
        return issuer
    }

    mutating func sameSite(under issuer: IssuerURL?) -> SpindleConfiguration.SameSite {
        let sameSite = value(.sessionSameSite, "lax or none", SpindleConfiguration.SameSite.init(rawValue:)) ?? .lax
        // Browsers drop a SameSite=None cookie that is not Secure (RFC 6265bis §5.7).
        if sameSite == .none, let issuer, !issuer.isSecure {
            refuse(.sessionSameSite, "lax unless the issuer is an https URL")
        }
        return sameSite
    }
}

extension ConfigurationReading {
    mutating func masterKey(of database: DatabaseLocation) -> MasterKeyLocation? {
        let file = value(.masterKeyFile, "the path of a file") { MasterKeyFile(path: $0) }
        let isInline = place(of: .masterKey) != nil
        let key = value(.masterKey, "the base64 of 32 bytes") { try? MasterKey(base64: $0) }
        switch (file, isInline, database) {
        case (_?, true, _):
            refuse(.masterKey, "left out when master_key_file is given")
            return nil
        case (let file?, false, _): return .file(file)
        case (nil, true, _): return key.map { .inline($0) }
        case (nil, false, .sqlite(let path)): return .file(MasterKeyFile(path: path + ".key"))
        case (nil, false, .postgreSQL):
            // Every node needs the same key, so none is generated for a shared database.
            refuse(.masterKeyFile, "given with a PostgreSQL database, or else master_key")
            return nil
        }
    }
}

extension ConfigurationReading {
    /// The sender of mails; nil when it is faulty. The default is an address at the issuer's host that takes no
    /// replies.
    mutating func sender(under issuer: IssuerURL?) -> Sender? {
        let expected = "an address, or a name and an address as in Example <no-reply@example.com>"
        guard place(of: .mailFrom) == nil else { return value(.mailFrom, expected, Sender.init) }
        guard let issuer else { return nil }
        // RFC 5321 §4.1.3
        let literal = IPAddress(issuer.host).map { $0.description.contains(":") ? "[IPv6:\($0)]" : "[\($0)]" }
        guard let sender = Sender("no-reply@\(literal ?? issuer.host)") else {
            refuse(.mailFrom, "given: the issuer's host is no domain that mail can come from")
            return nil
        }
        return sender
    }
}
