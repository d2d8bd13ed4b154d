"""The local backend: programs in jails on this machine; see `pool` for how it works, `inside` for what is in there."""
