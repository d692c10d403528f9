"""Ditto's webhook, asked as docs/guide-ditto.md asks it: the signature is made by openssl, not by us."""

from harness.server import REPOSITORY
from harness.walk import expect_in_order, walk


def test_the_guides_commands_do_what_it_says(tmp_path, program):
    for name in ("curl", "bash", "openssl", "python3"):
        program(name, name)
    output = walk(REPOSITORY / "docs" / "guide-ditto.md", tmp_path)
    expect_in_order(
        output,
        '"signed": true', "/webhooks/ditto/loom-cars",
        '"authenticated": true', '"authenticate": true', '"expirationSeconds": 3', "_id.team == 'red'",
        "_id.team == 'blue'", '"authenticated":false', "invalid_client", '"OK"', '"authenticate":false',
        "unknown_token", "ditto_unsigned", "permission_ended",
    )
    assert " 401" in output, output
