def write(args: argparse.Namespace) -> dict:
    """PE p 的 golden 是各 PE 第 p 段之和，用宽类型累加再转回 dtype；返回 config.json 里另外的项。"""
    inputs = [args.data_dir / f"input_pe{pe}.bin" for pe in range(args.pes)]
    for pe, path in enumerate(inputs):
        encode(values(pe, args.pes * args.elements, args.dtype, args.pes), args.dtype).tofile(path)
    for pe in range(args.pes):
        parts = (part(path, args.dtype, pe * args.elements, args.elements) for path in inputs)
        total = sum(decode(data, args.dtype) for data in parts)
        encode(total, args.dtype).tofile(args.data_dir / f"golden_pe{pe}.bin")
    return {"expected_elems": args.elements}
