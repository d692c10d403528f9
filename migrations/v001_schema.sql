-- The whole schema, module by module, from the ground up. Each module declares its tables as `StoredTable`s: how long
-- rows are kept, and what happens to them when a user, a client or a merchant is deleted.
--
-- The subset of SQL that both engines share is in docs/portable-sql.md. In short:
-- * a column is TEXT or BIGINT; a time or a duration is in milliseconds; a flag is BIGINT CHECK (x IN (0, 1));
-- * a list is TEXT with a line for each value; a document is JSON as TEXT; empty is '' or '{}';
-- * a secret is stored as its fingerprint (SHA-256, base64url), or `sealed_…` under the master key;
-- * NULL means that there is none; a default says how each row begins;
-- * a column that references another table leads an index, so that deleting a parent reads no whole table of children;
-- * WITHOUT ROWID keeps rows in the order of their primary key: one search, and one page of a commit, instead of two.
--   An engine without row ids never sees these words;
-- * COLLATE BINARY compares a column byte by byte on both engines, so that the texts that begin alike are a range.


-- Storage

-- Facts about this database, such as the check value of its master key.
CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);


-- Keys

-- The keys that sign tokens. Each is published from its creation, so that caches know it before it signs.
CREATE TABLE signing_keys (
    id TEXT PRIMARY KEY,
    algorithm TEXT NOT NULL,
    public_key TEXT NOT NULL,
    sealed_private_key TEXT NOT NULL,
    signs_from BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX signing_keys_by_start ON signing_keys (algorithm, signs_from);


-- Directory

-- Merchants: companies with their own clients.
CREATE TABLE merchants (
    id TEXT PRIMARY KEY,
    -- The merchant's number in SPiD's API.
    number BIGINT NOT NULL,
    name TEXT NOT NULL,
    logo_uri TEXT,
    accent_color TEXT, -- #rrggbb
    events_uri TEXT, -- gets the merchant's events, signed
    -- A document: the merchant's own texts for the mails that its clients cause.
    mail_templates TEXT,
    -- Whether a phone's sign-out also ends what backends got by its codes.
    logout_reaches_backends BIGINT NOT NULL CHECK (logout_reaches_backends IN (0, 1)),
    -- Set for a merchant of the platform itself, which needs no introduction to users.
    skips_introduction BIGINT NOT NULL DEFAULT 0 CHECK (skips_introduction IN (0, 1)),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    disabled_at BIGINT,
    -- Since when it is being deleted: it is hidden from then on, and what it owns is deleted in batches.
    deleted_at BIGINT
);
CREATE UNIQUE INDEX merchants_by_number ON merchants (number);
CREATE INDEX merchants_by_name ON merchants (name, id);
CREATE INDEX merchants_by_deletion ON merchants (deleted_at) WHERE deleted_at IS NOT NULL;

-- Names that are taken though nothing has them: of deleted or renamed things.
CREATE TABLE taken (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    merchant_id TEXT, -- the former owner, which may be gone; NULL: no merchant
    gone_at BIGINT NOT NULL,
    PRIMARY KEY (kind, name)
);
CREATE INDEX taken_by_merchant ON taken (merchant_id, kind, name) WHERE merchant_id IS NOT NULL;
-- A client's id is free again after a time.
CREATE INDEX taken_by_end ON taken (kind, gone_at);

-- Clients: apps, sites and backends that get tokens.
CREATE TABLE clients (
    id TEXT PRIMARY KEY,
    -- NULL: the platform's client. Two of these do not share a merchant.
    merchant_id TEXT REFERENCES merchants (id) ON DELETE CASCADE,
    name TEXT NOT NULL,

    -- Kind and rights
    authentication_method TEXT NOT NULL,
    custody TEXT NOT NULL, -- of its secret: none, in_app, on_server; follows from the method and the redirect URIs
    first_party BIGINT NOT NULL CHECK (first_party IN (0, 1)),
    spid_compatible BIGINT NOT NULL CHECK (spid_compatible IN (0, 1)),
    grant_types TEXT NOT NULL,
    scope TEXT NOT NULL,
    -- What administration last set for a self-registered client, as the most that its developer may choose.
    grant_limit TEXT,
    scope_limit TEXT,
    requires_pkce BIGINT NOT NULL CHECK (requires_pkce IN (0, 1)), -- or a nonce with `openid`
    requires_verified_email BIGINT NOT NULL DEFAULT 0 CHECK (requires_verified_email IN (0, 1)),

    -- Addresses
    redirect_uris TEXT NOT NULL,
    post_logout_redirect_uris TEXT NOT NULL DEFAULT '',
    web_origins TEXT NOT NULL DEFAULT '', -- pages there may ask for the session, or frame a page
    callback_uri TEXT, -- gets messages about changes to users

    -- Tokens
    access_token_lifetime BIGINT NOT NULL,
    refresh_token_lifetime BIGINT NOT NULL,
    refresh_family_lifetime BIGINT, -- of one sign-in's refresh tokens together; NULL: while they are used
    rotates_refresh_tokens BIGINT NOT NULL CHECK (rotates_refresh_tokens IN (0, 1)),
    -- How long a rotated refresh token may be presented again while its successor is unused.
    refresh_repeat_window BIGINT NOT NULL,
    refresh_leeway BIGINT, -- how long the tabs of a browser app may refresh with the same token; NULL: the default

    -- Terms are identified by their URL: new terms have a new URL, which no user has accepted yet.
    terms_uri TEXT,
    terms_changed_at BIGINT,

    -- Documents that are read with the client and never searched: its OpenID Connect settings, and its SPiD settings.
    openid TEXT NOT NULL DEFAULT '{}',
    spid TEXT NOT NULL DEFAULT '{}',
    signs_responses BIGINT NOT NULL DEFAULT 0 CHECK (signs_responses IN (0, 1)), -- of SPiD's API

    sealed_sign_secret TEXT NOT NULL,
    registration_token TEXT, -- a self-registered client's: the fingerprint (RFC 7592)

    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    used_at BIGINT, -- when it got its first token: only then its id stays taken
    disabled_at BIGINT,
    deleted_at BIGINT, -- as in merchants
    -- When a secret was last ended: the client's own older tokens lose their admin scopes.
    secret_ended_at BIGINT,
    -- When it became first-party or a third party's: older pages showed the former state.
    first_party_changed_at BIGINT,
    -- When a self-registered client last changed its identity towards users: name, hosts of its redirect URIs, or kind
    -- of subject. Older consents do not count.
    identity_changed_at BIGINT
);
CREATE INDEX clients_by_merchant ON clients (merchant_id, id);
CREATE INDEX clients_by_name ON clients (name, id);
CREATE INDEX clients_by_deletion ON clients (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE client_secrets (
    id TEXT PRIMARY KEY,
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX client_secrets_by_client ON client_secrets (client_id);

-- The APIs that a client may ask for tokens for (RFC 8707), as its `openid` says.
CREATE TABLE client_resources (
    resource TEXT NOT NULL,
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    PRIMARY KEY (resource, client_id)
);
CREATE INDEX client_resources_by_client ON client_resources (client_id);

-- The redirect URIs of clients, by which administration finds them.
CREATE TABLE client_redirect_uris (
    fingerprint TEXT NOT NULL,
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    PRIMARY KEY (fingerprint, client_id)
);
CREATE INDEX client_redirect_uris_by_client ON client_redirect_uris (client_id);

-- The owners of APIs. An owner keeps those of a deleted client: another's tokens must not become valid for an API.
CREATE TABLE resources (
    resource TEXT NOT NULL,
    owner TEXT, -- a merchant; NULL: the platform, also after the merchant's deletion
    lent_to TEXT NOT NULL DEFAULT '', -- a merchant, by the platform; empty: the owner's row
    PRIMARY KEY (resource, lent_to)
);
CREATE INDEX resources_by_owner ON resources (owner);
CREATE INDEX resources_by_borrower ON resources (lent_to);

-- Users. They belong to the deployment, not to a merchant.
CREATE TABLE users (
    id BIGINT PRIMARY KEY,
    subject TEXT, -- the `sub` that an import kept
    email TEXT COLLATE BINARY UNIQUE, -- trimmed and in lower case
    email_verified BIGINT NOT NULL CHECK (email_verified IN (0, 1)),
    verified_phone TEXT, -- one user's at a time
    phone_verified_at BIGINT,
    password_hash TEXT,
    profile TEXT NOT NULL, -- a document: set by the user
    search_name TEXT COLLATE BINARY NOT NULL DEFAULT '', -- the name of the profile in lower case; empty: none
    attributes TEXT NOT NULL DEFAULT '{}', -- a document: set by administration, for claims
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    disabled_at BIGINT,
    deletion_due_at BIGINT -- set when the user asks for deletion, and can still cancel
);
CREATE UNIQUE INDEX users_by_subject ON users (subject) WHERE subject IS NOT NULL;
CREATE UNIQUE INDEX users_by_verified_phone ON users (verified_phone) WHERE verified_phone IS NOT NULL;
CREATE INDEX users_by_deletion ON users (deletion_due_at) WHERE deletion_due_at IS NOT NULL;
-- Hashes to compare where an address has none, so that both take as long (`SignIn.standIn`).
CREATE INDEX users_with_password ON users (id) WHERE password_hash IS NOT NULL;
-- Searches: by the start of an address, which needs only equality and so works under any collation, and by time.
CREATE INDEX users_by_email_start ON users (SUBSTR(email, 1, 3));
CREATE INDEX users_by_creation ON users (created_at, id);
CREATE INDEX users_by_change ON users (updated_at, id);
CREATE INDEX users_by_name ON users (search_name, id) WHERE search_name <> '';
CREATE INDEX users_disabled ON users (id) WHERE disabled_at IS NOT NULL;

-- Which clients a user has used.
CREATE TABLE connections (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, client_id)
);
CREATE INDEX connections_by_client ON connections (client_id, user_id);

-- Browser sessions: of a user who signed in, or a web view's, opened by an app's session code.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE, -- of its cookie
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,

    -- The sign-in; for a web view, that of the token family that bought it
    signed_in_at BIGINT NOT NULL,
    is_dated BIGINT NOT NULL CHECK (is_dated IN (0, 1)), -- 0: an issuer did not say when
    method TEXT NOT NULL, -- as in RFC 8176, or 'issuer'
    -- The issuer that vouched for the user: the session rests while it is disabled, and ends with it or with the link.
    issuer_id TEXT,
    -- Where it is good: NULL everywhere, otherwise at the merchant whose own issuer vouched for the user.
    merchant_id TEXT REFERENCES merchants (id) ON DELETE CASCADE,

    -- For a web view: the path of the token family that bought it, the client that it is for, and the client whose
    -- token bought it. The clients differ when a code passes from one to another of a merchant; the session rests while
    -- either is disabled.
    path TEXT,
    client_id TEXT,
    buyer_id TEXT,

    remembered BIGINT NOT NULL DEFAULT 0 CHECK (remembered IN (0, 1)),
    renewals BIGINT NOT NULL DEFAULT 0, -- how often it got another secret, for example by a new password
    user_agent TEXT NOT NULL,
    ip_address TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_merchant ON sessions (merchant_id) WHERE merchant_id IS NOT NULL;
CREATE INDEX sessions_by_issuer ON sessions (issuer_id) WHERE issuer_id IS NOT NULL AND ended_at IS NULL;
CREATE INDEX sessions_by_client ON sessions (client_id) WHERE client_id IS NOT NULL AND ended_at IS NULL;
CREATE INDEX sessions_by_buyer ON sessions (buyer_id) WHERE buyer_id IS NOT NULL AND ended_at IS NULL;
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- What a browser holds of a session at a host of a client's site, while the session lives. A row begins as a code, and
-- spending it gives the row its cookie.
CREATE TABLE host_sessions (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL,
    host TEXT NOT NULL,
    code TEXT,
    browser TEXT, -- the fingerprint of the browser that asked
    code_expires_at BIGINT,
    fingerprint TEXT, -- of its cookie there
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (session_id, client_id, host)
);
CREATE UNIQUE INDEX host_sessions_by_code ON host_sessions (code) WHERE code IS NOT NULL;
CREATE UNIQUE INDEX host_sessions_by_fingerprint ON host_sessions (fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX host_sessions_by_expiry ON host_sessions (expires_at);

-- Sign-ins in browsers of which a site had been told that no user is signed in. Each such answer has its own mark.
CREATE TABLE noticed_sign_ins (
    mark TEXT PRIMARY KEY,
    signed_in_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX noticed_sign_ins_by_expiry ON noticed_sign_ins (expires_at);

-- Issuers that a merchant trusts to identify users, as far as every module must know of them. Their names, keys and
-- rules are in issuer_settings. A row outlives its issuer and the merchant while sessions or tokens rest on it.
CREATE TABLE issuers (
    id TEXT PRIMARY KEY,
    merchant_id TEXT NOT NULL,
    -- Meanwhile sessions that rest on it are refused, and tokens of its merchant's clients.
    disabled_at BIGINT,
    -- Since when it is deleted: what rests on it is refused, and ends in batches.
    gone_at BIGINT,
    -- Set when the platform takes its word back: sessions opened before are good at its merchant alone, permanently. A
    -- mark on this row instead of the sessions, because there may be any number of them.
    confined_before BIGINT
);
CREATE INDEX issuers_by_merchant ON issuers (merchant_id);
CREATE INDEX issuers_gone ON issuers (gone_at) WHERE gone_at IS NOT NULL;


-- Delivery

-- Mails, text messages and callbacks that wait to be sent. The node that moves `due_at` on makes the next attempt.
CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    share TEXT NOT NULL DEFAULT '', -- whose part of the workers it uses: a merchant's, or '' for all others
    subject TEXT, -- whom it tells about whom: few of one subject are sent at a time
    topic TEXT, -- what it tells: a newer one replaces one that still waits
    recipient TEXT, -- the fingerprint of the address or number that a mail or text message goes to
    sealed_content TEXT NOT NULL, -- sealed, because it contains links that sign in, and addresses
    attempts BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    failed_at BIGINT, -- when it was given up: then it is kept for some days, for administration
    error TEXT -- why
);
CREATE INDEX deliveries_by_share ON deliveries (kind, share, due_at) WHERE failed_at IS NULL;
CREATE INDEX deliveries_by_recipient ON deliveries (recipient) WHERE recipient IS NOT NULL;
CREATE INDEX deliveries_failed ON deliveries (failed_at, id) WHERE failed_at IS NOT NULL;
CREATE INDEX deliveries_by_subject ON deliveries (subject, due_at) WHERE subject IS NOT NULL;
CREATE INDEX deliveries_by_topic ON deliveries (topic) WHERE topic IS NOT NULL;
CREATE INDEX deliveries_by_expiry ON deliveries (expires_at) WHERE failed_at IS NULL;


-- Authentication

-- Rate limits (GCRA). A name is a fingerprint; at the theoretical arrival time the bucket is empty again.
CREATE TABLE throttles (
    name TEXT PRIMARY KEY,
    theoretical_arrival BIGINT NOT NULL
);
CREATE INDEX throttles_by_time ON throttles (theoretical_arrival);

-- Devices on which a user has signed in: an attack from elsewhere does not slow the user there.
CREATE TABLE known_devices (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL, -- of browser and address
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, fingerprint)
);
CREATE INDEX known_devices_by_time ON known_devices (seen_at);

-- Attempts to sign in as an existing user.
CREATE TABLE logins (
    id TEXT PRIMARY KEY,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    client_id TEXT,
    type TEXT NOT NULL, -- SPiD's: normal, auto, thirdparty, api
    succeeded BIGINT NOT NULL CHECK (succeeded IN (0, 1)),
    provider TEXT,
    user_agent TEXT NOT NULL,
    ip_address TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX logins_by_user ON logins (user_id, created_at, id);
CREATE INDEX logins_by_client ON logins (client_id, created_at, id);
CREATE INDEX logins_by_place ON logins (client_id, ip_address, created_at, id);
-- Failed attempts are few among a client's.
CREATE INDEX logins_failed ON logins (client_id, created_at, id) WHERE succeeded = 0;
CREATE INDEX logins_by_time ON logins (created_at);

-- Secrets sent by mail or text message: a link (a fingerprint) or a short code (keyed, because a reader of the table
-- could try all codes).
CREATE TABLE verifications (
    id TEXT PRIMARY KEY,
    purpose TEXT NOT NULL,
    user_id BIGINT REFERENCES users (id) ON DELETE CASCADE, -- NULL: a sign-up whose address is not verified
    email TEXT NOT NULL, -- '' if the code went to a phone
    phone TEXT,
    link TEXT UNIQUE,
    code TEXT,
    browser TEXT, -- the fingerprint of the browser that asked
    -- What a sign-up stores for its new user. Terms are one per line: a client's id and a URL.
    password_hash TEXT,
    profile TEXT NOT NULL,
    agreed TEXT NOT NULL,
    -- For a user who must decide whether to keep an account that is about to be deleted: how they signed in, and the
    -- issuer that vouched for them.
    method TEXT,
    issuer_id TEXT,
    continue_to TEXT NOT NULL,
    tries BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    spent_at BIGINT,
    spent_by TEXT -- the attempt that won
);
CREATE INDEX verifications_by_user ON verifications (user_id);
CREATE INDEX verifications_by_email ON verifications (email);
CREATE INDEX verifications_by_phone ON verifications (phone) WHERE phone IS NOT NULL;
CREATE INDEX verifications_by_expiry ON verifications (expires_at);


-- OAuth

-- One completed authorization: its code and tokens live and end together. `expires_at` moves along with its tokens. A
-- redeemed code for a backend is its token family, which has the code's id.
CREATE TABLE token_families (
    id TEXT PRIMARY KEY,
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    user_id BIGINT REFERENCES users (id) ON DELETE CASCADE, -- NULL: the client acts for itself
    scope TEXT NOT NULL,
    resource TEXT, -- the audience of its tokens (RFC 8707)
    claims TEXT, -- requested one by one
    trial TEXT, -- what a developer tries out with them (`serve --dev`)
    -- Its tokens came through the browser: they are good for less, and end with its session.
    front_channel BIGINT NOT NULL DEFAULT 0 CHECK (front_channel IN (0, 1)),

    -- Its ancestors: see `TokenFamily.Path`. Its own id if it came from a sign-in.
    path TEXT NOT NULL,
    -- The sign-in that it rests on, copied along the path; NULL for a client itself. At clients of the issuer's
    -- merchant its tokens are refused while the issuer is disabled, and end with it.
    signed_in_at BIGINT,
    is_dated BIGINT CHECK (is_dated IN (0, 1)), -- 0: an issuer did not say when
    method TEXT, -- as in RFC 8176, or 'issuer'
    issuer_id TEXT,
    session_id TEXT, -- the browser session it was got in, which may be gone: the `sid`
    redeemed_by TEXT, -- the attempt that redeemed the code for a backend

    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT
);
-- A user's live families at one client, the newest first: counted without reading ended ones.
CREATE INDEX token_families_by_user ON token_families (user_id, client_id, ended_at, created_at, id);
CREATE INDEX token_families_by_client ON token_families (client_id);
-- Families of a client that acts for itself.
CREATE INDEX token_families_own ON token_families (client_id, created_at, id)
    WHERE user_id IS NULL AND ended_at IS NULL;
CREATE INDEX token_families_own_ended ON token_families (client_id, ended_at)
    WHERE user_id IS NULL AND ended_at IS NOT NULL;
CREATE INDEX token_families_by_issuer ON token_families (issuer_id, client_id)
    WHERE issuer_id IS NOT NULL AND ended_at IS NULL;
CREATE INDEX token_families_by_session ON token_families (session_id) WHERE session_id IS NOT NULL;
-- What was got in web views. What was redeemed from codes has no session, and is found among its user's families: an
-- index of all paths would cost each redemption a page of its commit.
CREATE INDEX token_families_by_path ON token_families (path) WHERE session_id IS NOT NULL AND path <> id;
-- For the sweep.
CREATE INDEX token_families_by_expiry ON token_families (expires_at);
CREATE INDEX token_families_ended ON token_families (ended_at) WHERE ended_at IS NOT NULL;

-- Access tokens. They have no foreign keys, nor do codes: these tables are hot, their rows expire by themselves, and
-- each use checks whether client, user and family live. Each index on a random value would be one more page in every
-- commit.
CREATE TABLE access_tokens (
    fingerprint TEXT PRIMARY KEY,
    family_id TEXT, -- NULL: a client's own
    client_id TEXT NOT NULL,
    user_id BIGINT,
    scope TEXT NOT NULL,
    resource TEXT,
    rotation TEXT, -- the refresh token whose rotation this one confirms when it is first presented
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX access_tokens_by_expiry ON access_tokens (expires_at);

-- Refresh tokens. A token is current; or rotated, with its successor kept sealed so that a lost response can be
-- repeated; or confirmed, with the sealed successor erased, and any use is a replay.
CREATE TABLE refresh_tokens (
    fingerprint TEXT PRIMARY KEY,
    family_id TEXT NOT NULL REFERENCES token_families (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    predecessor TEXT,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    successor TEXT,
    sealed_successor TEXT,
    rotated_at BIGINT,
    rotated_by TEXT, -- the attempt that rotated it
    latest_access_token TEXT,
    repeats BIGINT NOT NULL DEFAULT 0, -- how often the response to its rotation was repeated
    repeat_run BIGINT NOT NULL DEFAULT 0, -- how many rotations in a row up to this one were repeated
    confirmed_at BIGINT
) WITHOUT ROWID;
CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family_id);
CREATE INDEX refresh_tokens_by_expiry ON refresh_tokens (expires_at);

-- Authorization codes. A spent one is kept, so that a replay is noticed; an unspent one is deleted soon after its
-- expiry. So each kind has its own index.
CREATE TABLE authorization_codes (
    fingerprint TEXT PRIMARY KEY,
    client_id TEXT NOT NULL,
    user_id BIGINT NOT NULL,
    session_id TEXT NOT NULL,
    renewals BIGINT NOT NULL, -- the session's when the code was issued
    signed_in_at BIGINT NOT NULL,
    is_dated BIGINT NOT NULL CHECK (is_dated IN (0, 1)),
    method TEXT NOT NULL,
    issuer_id TEXT,
    scope TEXT NOT NULL,
    resource TEXT,
    claims TEXT,
    trial TEXT,
    nonce TEXT,
    code_challenge TEXT,
    redirect_uri TEXT NOT NULL,
    redirect_uri_sent BIGINT NOT NULL CHECK (redirect_uri_sent IN (0, 1)),
    expires_at BIGINT NOT NULL,
    spent_at BIGINT,
    spent_by TEXT, -- the attempt that spent it, by which a rerun recognizes itself
    family_id TEXT -- the family of that attempt: a replay ends it
);
CREATE INDEX authorization_codes_unspent ON authorization_codes (expires_at) WHERE spent_at IS NULL;
CREATE INDEX authorization_codes_spent ON authorization_codes (expires_at) WHERE spent_at IS NOT NULL;

-- Session codes: exchange codes that open a web view. A code for a backend is sealed and has no row until redeemed.
CREATE TABLE exchange_codes (
    fingerprint TEXT PRIMARY KEY,
    source_family_id TEXT NOT NULL,
    client_id TEXT NOT NULL, -- the client of its redirect URI
    user_id BIGINT NOT NULL,
    scope TEXT NOT NULL,
    redirect_uri TEXT,
    state TEXT, -- the app's, returned with the redirect
    expires_at BIGINT NOT NULL,
    spent_at BIGINT,
    spent_by TEXT
) WITHOUT ROWID;
CREATE INDEX exchange_codes_unspent ON exchange_codes (expires_at) WHERE spent_at IS NULL;
CREATE INDEX exchange_codes_spent ON exchange_codes (expires_at) WHERE spent_at IS NOT NULL;

-- When unspent codes of a user and a client ended: a row stays as long as these codes could be redeemed.
CREATE TABLE exchange_code_ends (
    user_id BIGINT NOT NULL,
    client_id TEXT NOT NULL,
    ended_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, client_id)
);
CREATE INDEX exchange_code_ends_by_time ON exchange_code_ends (ended_at);

-- The clients that took part in a browser session: those that got tokens there are told when it ends.
CREATE TABLE session_clients (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL,
    left_at BIGINT, -- when the user signed out of this client alone
    PRIMARY KEY (session_id, client_id)
) WITHOUT ROWID;

-- What a user allowed a client that asks for consent, until revoked.
CREATE TABLE consents (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    -- The client's `identity_changed_at` at that moment, 0 before its first change: the clocks of two machines do not
    -- tell which came first.
    identity BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, client_id)
);
CREATE INDEX consents_by_client ON consents (client_id, user_id);

-- Which terms a user has accepted.
CREATE TABLE agreements (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL, -- '' for the platform's
    terms_uri TEXT NOT NULL,
    accepted_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, client_id)
);
CREATE INDEX agreements_by_client ON agreements (client_id);

-- The merchants that a user has been introduced to, by a page that names both.
CREATE TABLE introductions (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    merchant_id TEXT NOT NULL REFERENCES merchants (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, merchant_id)
);
CREATE INDEX introductions_by_merchant ON introductions (merchant_id, user_id);

-- Authorization requests that wait for a user: pages carry the id and nothing else.
CREATE TABLE interactions (
    fingerprint TEXT NOT NULL PRIMARY KEY, -- of the id, which begins with the time
    browser TEXT, -- of the cookie of the browser that took it up; NULL until one does
    client_id TEXT NOT NULL,
    request TEXT NOT NULL, -- the parameters as they came, as a query
    by_another_user BIGINT NOT NULL CHECK (by_another_user IN (0, 1)),
    asks_consent BIGINT NOT NULL CHECK (asks_consent IN (0, 1)),
    session TEXT, -- the fingerprint of the session cookie of the answers: after another sign-in they do not count
    answers TEXT, -- a document: what the user has done for the request in that session
    answered_by TEXT, -- the attempt that consumed them last, by which a rerun recognizes itself
    expires_at BIGINT NOT NULL
);
CREATE INDEX interactions_by_browser ON interactions (browser, fingerprint) WHERE browser IS NOT NULL;
-- By the time they began: each kind is limited in number.
CREATE INDEX interactions_waiting ON interactions (fingerprint) WHERE session IS NULL;
CREATE INDEX interactions_signed_in ON interactions (fingerprint) WHERE session IS NOT NULL;
CREATE INDEX interactions_by_expiry ON interactions (expires_at);

-- With these, clients of a merchant may register themselves (RFC 7591 §3); counts how many did.
CREATE TABLE initial_access_tokens (
    id TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    merchant_id TEXT NOT NULL REFERENCES merchants (id) ON DELETE CASCADE,
    registrations BIGINT NOT NULL DEFAULT 0,
    max_registrations BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX initial_access_tokens_by_merchant ON initial_access_tokens (merchant_id, id);
CREATE INDEX initial_access_tokens_by_expiry ON initial_access_tokens (expires_at);

-- Used assertions, until they expire: none is accepted twice.
CREATE TABLE used_assertions (
    fingerprint TEXT PRIMARY KEY,
    used_by TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX used_assertions_by_expiry ON used_assertions (expires_at);


-- Federation

-- How issuers identify users: by assertions (RFC 7523), as identity providers that users sign in with, or both. A
-- deleted issuer has no row here, and its name is free.
CREATE TABLE issuer_settings (
    issuer_id TEXT PRIMARY KEY REFERENCES issuers (id) ON DELETE CASCADE,
    merchant_id TEXT NOT NULL REFERENCES merchants (id) ON DELETE CASCADE,
    issuer TEXT NOT NULL,
    create_users BIGINT NOT NULL CHECK (create_users IN (0, 1)),
    rules TEXT NOT NULL DEFAULT '{}', -- a document: the nonce, unknown users and addresses

    -- How its assertions are checked
    jwks TEXT,
    jwks_uri TEXT,
    sealed_secret TEXT,
    audiences TEXT NOT NULL,
    algorithms TEXT NOT NULL,

    -- A provider whose access tokens an app may send instead: `facebook` or `google`. The names are what its apps call
    -- themselves; requests to Facebook need the secret.
    provider TEXT,
    app_names TEXT NOT NULL DEFAULT '',
    sealed_app_secret TEXT,

    -- How users sign in there, by redirect
    sign_in_name TEXT, -- the text of the button
    discovery_url TEXT,
    client_id TEXT,
    sealed_client_secret TEXT,
    scope TEXT,

    -- Whether a sign-in at a provider is good at every merchant. Only the platform may allow that, because the owner of
    -- the app there can start sign-ins in it.
    signs_in_everywhere BIGINT NOT NULL DEFAULT 0 CHECK (signs_in_everywhere IN (0, 1)),
    -- Whether the platform ever let it sign users in everywhere, or vouch for addresses: its links from then stay, so
    -- only the platform may change it.
    guarded BIGINT NOT NULL DEFAULT 0 CHECK (guarded IN (0, 1)),

    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (merchant_id, issuer)
);
CREATE INDEX issuer_settings_by_provider ON issuer_settings (provider) WHERE provider IS NOT NULL;

-- Links: which user a subject of an issuer is. An issuer may have a million, which are deleted after it, in batches.
CREATE TABLE issuer_subjects (
    issuer_id TEXT NOT NULL REFERENCES issuers (id) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- A client of the issuer's merchant asked for the link, and not the user in a browser: it is good at that merchant
    -- alone.
    is_confined BIGINT NOT NULL DEFAULT 0 CHECK (is_confined IN (0, 1)),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issuer_id, subject)
);
CREATE INDEX issuer_subjects_by_user ON issuer_subjects (user_id);

-- The sign-ins that users have removed, by merchant and name of the issuer, which outlive the issuer. No address and no
-- app connects the user there again, nor at any merchant's issuer for the same provider, and the subject leads to no
-- new user. Only the user can connect it again.
CREATE TABLE removed_sign_ins (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    merchant_id TEXT NOT NULL,
    issuer TEXT NOT NULL,
    provider TEXT, -- the issuer's, if any: what is removed there is removed at every merchant
    subject TEXT NOT NULL, -- '': a merchant's app had attached it, so it may be another user's
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, merchant_id, issuer, subject)
);
CREATE INDEX removed_sign_ins_by_subject ON removed_sign_ins (subject) WHERE subject <> '';
-- For the deletion of a merchant.
CREATE INDEX removed_sign_ins_by_merchant ON removed_sign_ins (merchant_id, user_id) WHERE provider IS NULL;

-- Users who are away at an identity provider, and return with `state` in the same browser. PKCE's verifier and the
-- nonce are derived from `state` and the master key.
CREATE TABLE provider_requests (
    state TEXT PRIMARY KEY, -- its fingerprint
    issuer_id TEXT NOT NULL REFERENCES issuer_settings (issuer_id) ON DELETE CASCADE,
    browser TEXT NOT NULL,
    continue_to TEXT NOT NULL,
    anew BIGINT NOT NULL CHECK (anew IN (0, 1)), -- only a new sign-in there will do
    from_page BIGINT NOT NULL CHECK (from_page IN (0, 1)), -- from a page of ours, not by a link from elsewhere
    -- The user that the sign-in there is linked to, and the session in which they asked, with its cookie at that time.
    user_id BIGINT REFERENCES users (id) ON DELETE CASCADE,
    session_id TEXT,
    session_renewals BIGINT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    spent_at BIGINT,
    spent_by TEXT
);
CREATE INDEX provider_requests_by_issuer ON provider_requests (issuer_id);
CREATE INDEX provider_requests_by_user ON provider_requests (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX provider_requests_by_expiry ON provider_requests (expires_at);


-- SPiD

-- What SPiD's clients store here: a short text under a key, for one of their users or for themselves. A user's texts
-- are deleted with their connection to the client.
CREATE TABLE data_objects (
    id TEXT PRIMARY KEY, -- made from client, user and key, so that each has one
    client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
    user_id BIGINT REFERENCES users (id) ON DELETE CASCADE, -- NULL: the client's own
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    size BIGINT NOT NULL, -- of `value`, in bytes
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    FOREIGN KEY (user_id, client_id) REFERENCES connections (user_id, client_id) ON DELETE CASCADE
);
CREATE INDEX data_objects_by_user ON data_objects (user_id, client_id, id);
CREATE INDEX data_objects_by_client ON data_objects (client_id, created_at, id);
CREATE INDEX data_objects_by_change ON data_objects (client_id, updated_at, id);
CREATE INDEX data_objects_by_name ON data_objects (client_id, name, created_at, id);


-- Ditto

-- Ditto's authentication webhooks.
CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE, -- the last part of its URL
    merchant_id TEXT NOT NULL REFERENCES merchants (id) ON DELETE CASCADE,
    document TEXT NOT NULL, -- set by administration
    sealed_secrets TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    disabled_at BIGINT
);
CREATE INDEX webhooks_by_merchant ON webhooks (merchant_id, id);

-- What was done, by whom, to what and from where. Rows are never changed but for two things: the chain is written after
-- their commit, and what names a user goes when the user is erased.
CREATE TABLE events (
    id TEXT PRIMARY KEY, -- sorts by time
    at BIGINT NOT NULL,
    type TEXT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    subject_type TEXT,
    subject_id TEXT,
    user_id BIGINT, -- whose person the details may name; the user may be gone
    merchant_id TEXT, -- the merchant that may see it; NULL: the platform alone
    client_id TEXT,
    outcome TEXT NOT NULL,
    reason TEXT,
    request_id TEXT,
    count BIGINT NOT NULL, -- how many equal ones it stands for
    -- A document: addresses, and values before and after. NULL once the user is erased.
    details TEXT,
    salt TEXT,
    details_hash TEXT NOT NULL, -- of salt and details
    -- The place in the chain; NULL until it is chained
    position BIGINT UNIQUE,
    hash TEXT
);
CREATE INDEX events_unchained ON events (at, id) WHERE position IS NULL;
CREATE INDEX events_by_actor ON events (actor_id, id);
CREATE INDEX events_by_subject ON events (subject_id, id) WHERE subject_id IS NOT NULL;
CREATE INDEX events_by_type ON events (type, id);
CREATE INDEX events_by_client ON events (client_id, id) WHERE client_id IS NOT NULL;
CREATE INDEX events_by_merchant ON events (merchant_id, id) WHERE merchant_id IS NOT NULL;
CREATE INDEX events_by_request ON events (request_id, id) WHERE request_id IS NOT NULL;
CREATE INDEX events_by_user ON events (user_id, id) WHERE user_id IS NOT NULL;
-- Those that erasing the user has to change
CREATE INDEX events_of_user ON events (user_id) WHERE user_id IS NOT NULL AND details IS NOT NULL;

-- The ends of the chain of events, one row once there is a link: the link that its first row follows, and that of its
-- last row.
CREATE TABLE event_chain (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    first_position BIGINT NOT NULL,
    first_hash TEXT NOT NULL,
    last_position BIGINT NOT NULL,
    last_hash TEXT NOT NULL
);


-- Administration

-- What calls with an Idempotency-Key were answered. A row is stored with the change that the call made.
CREATE TABLE idempotent_answers (
    name TEXT PRIMARY KEY, -- the fingerprint of administrator and key
    request TEXT NOT NULL, -- the fingerprint of what was asked
    attempt TEXT NOT NULL, -- the call that made the change
    sealed_answer TEXT, -- NULL until it is known
    expires_at BIGINT NOT NULL
);
CREATE INDEX idempotent_answers_by_expiry ON idempotent_answers (expires_at);
