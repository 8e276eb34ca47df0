"""Tools that build and start the real parts the tests run against. Nothing here ships with the product."""
