def write(args: argparse.Namespace) -> dict:
    """golden.bin 是 root 的输入，所有 PE 相同；返回 config.json 里另外的项。"""
    for pe in range(args.pes):
        data = encode(values(pe, args.elements, args.dtype), args.dtype)
        data.tofile(args.data_dir / f"input_pe{pe}.bin")
        if pe == args.root:
            data.tofile(args.data_dir / "golden.bin")
    return {"expected_elems": args.elements, "root": args.root}
