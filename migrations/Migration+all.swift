public import Storage

extension Migration {
    /// Every step, oldest first. A new one is a file here, a line in Package.swift and a line below.
    public static let all: [Migration] = [
        Migration(version: 1, name: "foundation", text: PackageResources.v001_foundation_sql),
        Migration(version: 2, name: "people", text: PackageResources.v002_people_sql),
        Migration(version: 3, name: "spid", text: PackageResources.v003_spid_sql),
        Migration(version: 4, name: "openid", text: PackageResources.v004_openid_sql),
        Migration(version: 5, name: "defences", text: PackageResources.v005_defences_sql, then: noteResources),
        Migration(version: 6, name: "vocabulary", text: PackageResources.v006_vocabulary_sql),
        Migration(version: 7, name: "interactions", text: PackageResources.v007_interactions_sql),
        Migration(version: 8, name: "sessions", text: PackageResources.v008_sessions_sql),
        Migration(version: 9, name: "delivery_shares", text: PackageResources.v009_delivery_shares_sql),
        Migration(version: 10, name: "scale", text: PackageResources.v010_scale_sql),
        Migration(version: 11, name: "bounds", text: PackageResources.v011_bounds_sql),
        Migration(
            version: 12, name: "client_settings", text: PackageResources.v012_client_settings_sql, then: keepIssuers),
        Migration(version: 13, name: "merchant_numbers", text: PackageResources.v013_merchant_numbers_sql),
        Migration(version: 14, name: "exchange_state", text: PackageResources.v014_exchange_state_sql),
        Migration(version: 15, name: "children", text: PackageResources.v015_children_sql),
        Migration(version: 16, name: "data_objects", text: PackageResources.v016_data_objects_sql),
        Migration(version: 17, name: "client_logouts", text: PackageResources.v017_client_logouts_sql),
        Migration(version: 18, name: "imported_subjects", text: PackageResources.v018_imported_subjects_sql),
        Migration(version: 19, name: "phones", text: PackageResources.v019_phones_sql),
        Migration(version: 20, name: "session_hosts", text: PackageResources.v020_session_hosts_sql),
        Migration(version: 21, name: "mail_templates", text: PackageResources.v021_mail_templates_sql),
        Migration(version: 22, name: "repeats", text: PackageResources.v022_repeats_sql),
        Migration(version: 23, name: "more_bounds", text: PackageResources.v023_more_bounds_sql),
        Migration(version: 24, name: "sealed_codes", text: PackageResources.v024_sealed_codes_sql),
        Migration(version: 25, name: "delivery_expiry", text: PackageResources.v025_delivery_expiry_sql),
        Migration(version: 26, name: "unspent_codes", text: PackageResources.v026_unspent_codes_sql),
        Migration(
            version: 27, name: "rows_by_key", text: PackageResources.v027_rows_by_key_sql, onlyWithRowIDs: true),
        Migration(version: 28, name: "sessions_of_buyers", text: PackageResources.v028_sessions_of_buyers_sql),
        Migration(version: 29, name: "removed_links", text: PackageResources.v029_removed_links_sql),
        Migration(version: 30, name: "families_of_codes", text: PackageResources.v030_families_of_codes_sql),
        Migration(version: 31, name: "sessions_of_issuers", text: PackageResources.v031_sessions_of_issuers_sql),
        Migration(version: 32, name: "families_of_issuers", text: PackageResources.v032_families_of_issuers_sql),
        Migration(version: 33, name: "families_by_issuer", text: PackageResources.v033_families_by_issuer_sql),
        Migration(version: 34, name: "reserved_resources", text: PackageResources.v034_reserved_resources_sql),
        Migration(version: 35, name: "names_and_grants", text: PackageResources.v035_names_and_grants_sql),
        Migration(
            version: 36, name: "bought_and_renewed", text: PackageResources.v036_bought_and_renewed_sql,
            then: guardIssuers),
        Migration(version: 37, name: "client_identity", text: PackageResources.v037_client_identity_sql),
        Migration(version: 38, name: "removed_subjects", text: PackageResources.v038_removed_subjects_sql),
        Migration(version: 39, name: "consent_identity", text: PackageResources.v039_consent_identity_sql),
        Migration(version: 40, name: "connecting_sessions", text: PackageResources.v040_connecting_sessions_sql),
        Migration(version: 41, name: "failed_logins", text: PackageResources.v041_failed_logins_sql),
        Migration(version: 42, name: "former_ways_in", text: PackageResources.v042_former_ways_in_sql),
        Migration(version: 43, name: "session_buyers", text: PackageResources.v043_session_buyers_sql),
        Migration(
            version: 44, name: "providers_everywhere", text: PackageResources.v044_providers_everywhere_sql),
        Migration(
            version: 45, name: "what_sessions_rest_on", text: PackageResources.v045_what_sessions_rest_on_sql),
        Migration(version: 46, name: "refresh_leeway", text: PackageResources.v046_refresh_leeway_sql),
    ]

    private init(
        version: Int, name: String, text: [UInt8], onlyWithRowIDs: Bool = false,
        then: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) {
        self.init(
            version: version, name: name, script: String(decoding: text, as: UTF8.self), onlyWithRowIDs: onlyWithRowIDs,
            then: then)
    }
}
