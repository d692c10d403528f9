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
