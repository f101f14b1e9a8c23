"""What users put into their code: decorator, span, instrumenting by name, propagation."""
