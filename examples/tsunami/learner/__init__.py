"""The learners of the tsunami demo."""
