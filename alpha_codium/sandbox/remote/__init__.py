"""The backend `remote`: servers run the programs."""

# The header of answers with the digest of the sandbox's identity.
IDENTITY_HEADER = "x-sandbox"
