def write(args: argparse.Namespace) -> dict:
    """golden.bin 是各 PE 的输入按 PE 号的拼接，所有 PE 相同；返回 config.json 里另外的项。"""
    with (args.data_dir / "golden.bin").open("wb") as golden:
        for pe in range(args.pes):
            data = encode(values(pe, args.elements, args.dtype), args.dtype)
            data.tofile(args.data_dir / f"input_pe{pe}.bin")
            data.tofile(golden)
    return {"expected_elems": args.elements * args.pes}
