def write(args: argparse.Namespace) -> dict:
    """golden 的第 0 行是上一个 PE 写来的，第 1 行是从下一个 PE 读来的；返回 config.json 里另外的项。"""
    inputs = [args.data_dir / f"input_pe{pe}.bin" for pe in range(args.pes)]
    for pe, path in enumerate(inputs):
        encode(values(pe, args.elements, args.dtype), args.dtype).tofile(path)
    for pe in range(args.pes):
        with (args.data_dir / f"golden_pe{pe}.bin").open("wb") as golden:
            for source in ((pe + args.pes - 1) % args.pes, (pe + 1) % args.pes):
                part(inputs[source], args.dtype, 0, args.elements).tofile(golden)
    return {"expected_elems": args.elements * 2}
