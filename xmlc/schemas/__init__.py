"""YAML that people write: read with care, and told where and how it breaks its schema."""
