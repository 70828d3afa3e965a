def write(args: argparse.Namespace) -> dict:
    """PE p 的 golden 是上一个 PE 的输入；返回 config.json 里另外的项。"""
    for pe in range(args.pes):
        data = encode(values(pe, args.elements, args.dtype), args.dtype)
        data.tofile(args.data_dir / f"input_pe{pe}.bin")
        data.tofile(args.data_dir / f"golden_pe{(pe + 1) % args.pes}.bin")
    return {"expected_elems": args.elements}
