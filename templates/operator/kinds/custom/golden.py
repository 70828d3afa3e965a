@% if open %@
def write(args: argparse.Namespace) -> dict:
    """写 input_pe<n>.bin 与 golden_pe<n>.bin；返回 config.json 里另外的项，如 {"expected_elems": 每个 PE 输出的元素数}。"""
    raise NotImplementedError("[待填] 按 docs/design.md 的 correctness.oracle 写 @{ op }@ 的输入与 golden，写完删掉这一行")
@% else %@
def write(args: argparse.Namespace) -> dict:
    """PE p 的 golden 是上一个 PE 的输入；返回 config.json 里另外的项。"""
    for pe in range(args.pes):
        data = encode(values(pe, args.elements, args.dtype), args.dtype)
        data.tofile(args.data_dir / f"input_pe{pe}.bin")
        data.tofile(args.data_dir / f"golden_pe{(pe + 1) % args.pes}.bin")
    return {"expected_elems": args.elements}
@% endif %@
