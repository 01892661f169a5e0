"""The essay behind the project: worked examples whose numbers and pictures the framework computes."""
