"""Text in, batches of ids out: corpus → tokenizer → ids on disk → batches of similar length."""
