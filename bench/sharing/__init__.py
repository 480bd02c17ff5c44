"""What two jobs do together if they take turns, beside what one does alone."""
