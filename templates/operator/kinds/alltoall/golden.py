def write(args: argparse.Namespace) -> dict:
    """PE p 的 golden 是各 PE 的第 p 段按 PE 号的拼接；返回 config.json 里另外的项。"""
    inputs = [args.data_dir / f"input_pe{pe}.bin" for pe in range(args.pes)]
    for pe, path in enumerate(inputs):
        encode(values(pe, args.pes * args.elements, args.dtype), args.dtype).tofile(path)
    for pe in range(args.pes):
        with (args.data_dir / f"golden_pe{pe}.bin").open("wb") as golden:
            for path in inputs:
                part(path, args.dtype, pe * args.elements, args.elements).tofile(golden)
    return {"expected_elems": args.elements * args.pes}
