MINIMAL = "name: x\ndata: {corpus: toy_translation}\n"


def test_a_warm_up_of_no_updates_is_refused_by_name(faults, load):
    """B27: it would divide by zero in a worker; one of a single update is pure decay."""
    assert faults(f"{MINIMAL}train: {{warmup_steps: 0}}\n") == [
        "x.yaml:3:9: train.warmup_steps: expected more than 0; this is 0"
    ]
    assert load(f"{MINIMAL}train: {{warmup_steps: 1}}\n").experiment.train.warmup_steps == 1
