def counts_of(pes: int, capacity: int, pattern: str) -> np.ndarray:
    """counts[src][dst]：src 发给 dst 的元素数，任何一行、一列的和都不超过 capacity。"""
    most = capacity // pes
    if pattern == "even":
        return np.full((pes, pes), most)
    counts = np.random.default_rng(42).integers(0, most + 1, size=(pes, pes))
    if pattern == "sparse":  # 一半的对没有数据
        counts[(np.add.outer(np.arange(pes), np.arange(pes)) % 2).astype(bool)] = 0
    return counts


def write(args: argparse.Namespace) -> dict:
    """输入、每个 PE 的计划、按计划拼装的 golden；收到的长度之外是 0xFF。返回 config.json 里另外的项。"""
    counts = counts_of(args.pes, args.elements, args.pattern)
    from_row = np.cumsum(counts, axis=1) - counts  # 在发送方从哪里取
    to_column = np.cumsum(counts, axis=0) - counts  # 在接收方放到哪里
    inputs = [args.data_dir / f"input_pe{pe}.bin" for pe in range(args.pes)]
    for pe, path in enumerate(inputs):
        encode(values(pe, args.elements, args.dtype), args.dtype).tofile(path)
        plan = np.stack([counts[pe], from_row[pe], to_column[pe], np.zeros(args.pes)], axis=1)
        plan.astype(np.int64).tofile(args.data_dir / f"plan_pe{pe}.bin")
    for pe in range(args.pes):
        size = np.dtype(STORED[args.dtype]).itemsize
        golden = np.full(args.elements * size, 0xFF, np.uint8).view(STORED[args.dtype])
        for src, path in enumerate(inputs):
            count = int(counts[src][pe])
            golden[to_column[src][pe] :][:count] = part(path, args.dtype, int(from_row[src][pe]), count)
        golden.tofile(args.data_dir / f"golden_pe{pe}.bin")
    return {"expected_elems": args.elements, "received": counts.sum(axis=0).tolist()}
