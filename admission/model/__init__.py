"""The words of the core: small value types, nothing that decides."""
