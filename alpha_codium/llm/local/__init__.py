"""Local models: small models that run on this machine, without a key and an account.

1. `registry` lists the known models and the files in the models folder; `fetching` downloads and verifies files.
2. `server` starts a child process (`child`) that speaks OpenAI's protocol on loopback, with a random key.
3. The client sends requests to it without litellm (`alpha_codium.llm.direct`).
"""
