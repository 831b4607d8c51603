"""The method of `make bench`: docs/bench/README.md. sums, table and chart are pure and know no container."""
