"""Arrays to ties: checked, gathered by query, and sorted into tie groups."""
