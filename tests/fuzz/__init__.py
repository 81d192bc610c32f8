"""Random programs in all modes: what one shows that another does not is a finding; see `scripts/fuzz`."""
