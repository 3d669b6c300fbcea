"""Random expressions of the layout algebra, evaluated by atrex-layout and by an
independent evaluator; reports every difference.

  differential.py ORACLE_DIRECTORY TOOL [--count N] [--seed S] [--file EXPRESSIONS]

Results are compared as equal texts or as equivalent layouts: sizes, values and
the extents above 1. Errors are compared by constraint number. Expressions that
the evaluator has no answer for (an exception of its own, a domain too large to
enumerate) are counted and left out.
"""

import argparse
import random
import re
import signal
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("oracle")
parser.add_argument("tool")
parser.add_argument("--count", type=int, default=4000)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--file")
args = parser.parse_args()
sys.path.insert(0, args.oracle)
import layout as oracle  # noqa: E402

rng = random.Random(args.seed)
EXTENTS = [1, 2, 2, 3, 4, 4, 5, 6, 8]
WILD = [0, -1, -8, 7, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63)]


def number(low=-3, high=16):
    return rng.choice(WILD) if rng.random() < 0.03 else rng.randint(low, high)


def shape(depth=2, limit=48):
    out, size = [], 1
    for _ in range(rng.randint(1, 3)):
        if depth and rng.random() < 0.3:
            item = shape(depth - 1, max(limit // size, 1))
        else:
            item = rng.choice(WILD) if rng.random() < 0.004 else rng.choice(EXTENTS)
        if oracle_size(item) * size > limit and oracle_size(item) < 1000:
            item = 1
        size *= max(oracle_size(item), 1)
        out.append(item)
    return out[0] if len(out) == 1 else tuple(out)


def oracle_size(item):
    result = 1
    for leaf in oracle.flatten(item):
        result *= leaf
    return result


def like(tree, leaf):
    return tuple(like(x, leaf) for x in tree) if isinstance(tree, tuple) else leaf(tree)


def compact(tree, gaps=False, loose=False):
    leaves = oracle.flatten(tree)
    order = list(range(len(leaves)))
    rng.shuffle(order)
    strides, step = [0] * len(leaves), 1
    for i in order:
        if gaps and rng.random() < 0.4:
            step *= rng.choice([2, 3])
        if loose and rng.random() < 0.5:
            step += rng.randint(1, 5)
        strides[i], step = step, step * leaves[i]
    it = iter(strides)
    return like(tree, lambda _: next(it))


def text(tree):
    return "(" + ",".join(map(text, tree)) + ")" if isinstance(tree, tuple) else str(tree)


def layout(limit=48, basis=0.05):
    tree = shape(limit=limit)
    kind = rng.random()
    if kind < basis:
        stride = like(tree, lambda _: f"{rng.choice([1, 1, 2, 3, 4])}E{rng.randint(0, 2)}")
    elif kind < 0.3:
        stride = like(tree, lambda _: number(0, 16) if rng.random() < 0.9 else number())
    elif kind < 0.5:
        stride = compact(tree)
    elif kind < 0.75:
        stride = compact(tree, gaps=True)
    elif kind < 0.9:
        stride = compact(tree, loose=True)
    else:
        stride = like(tree, lambda _: rng.choice([0, 1, 2, 4, 8, 16]))
    if rng.random() < 0.01:
        stride = shape()
    return tree, f"{text(tree)}:{text(stride)}"


def swizzle():
    s = rng.choice([1, 2, 3, 4, -1, -2, -3])
    return f"S<{rng.randint(0, abs(s) + (rng.random() < 0.05))},{rng.randint(0, 4)},{s}>"


def composed():
    tree, outer = layout(basis=0)
    inner = swizzle() if rng.random() < 0.7 else f"{rng.randint(2, 100)}:{rng.randint(1, 4)}"
    if rng.random() < 0.2:
        outer = f"[{rng.randint(2, 99)}:{rng.randint(1, 3)} o {rng.randint(0, 9)} o {outer}]"
    return tree, f"{inner} o {rng.choice([0, 0, 0, 4, 5, 8])} o {outer}"


def any_layout(chance=0.12):
    return composed() if rng.random() < chance else layout()


def tiler():
    if rng.random() < 0.5:
        return layout(12, basis=0)[1]
    if rng.random() < 0.3:
        return f"{rng.choice(EXTENTS)}:{rng.choice([1, 1, 2, 3])}"
    modes = [rng.choice(["*", str(rng.choice(EXTENTS)), layout(8, basis=0)[1]]) for _ in range(rng.randint(1, 3))]
    return "[" + "|".join(modes) + "]"


def coordinate(tree, stars=0.0):
    if isinstance(tree, tuple) and rng.random() < 0.85:
        items = [coordinate(x, stars) for x in tree]
        if rng.random() < 0.02:
            items.append("0")
        return "(" + ",".join(items) + ")" if len(items) > 1 else items[0]
    if rng.random() < stars:
        return "*"
    if rng.random() < 0.02:
        return rng.choice(["-1", "(0,1)", "1000000"])
    return str(rng.randrange(max(min(oracle_size(tree), 10**6), 1)))


def expression():
    op = rng.choice(OPERATIONS)
    pick = any_layout
    if op in ("add", "sub", "mul", "div", "mod"):
        tree = shape()
        other = shape() if rng.random() < 0.1 else tree
        return f"{op}({text(like(tree, lambda _: number(-20, 20)))}, {text(like(other, lambda _: number(-20, 20)))})"
    if op in ("product", "product_each", "make_identity_layout"):
        return f"{op}({text(shape(limit=1000))})"
    if op == "product_like":
        tree = shape()
        return f"{op}({text(tree)}, {text(tree if rng.random() < 0.5 else shape(depth=1))})"
    if op in ("shape_div", "ceil_div"):
        other = shape() if rng.random() < 0.2 else rng.choice([1, 2, 3, 4, 6, 8, 12, 0, -2])
        return f"{op}({text(shape())}, {text(other)})"
    if op == "make_layout":
        tree = shape()
        if rng.random() < 0.5:
            return f"make_layout({text(tree)})"
        return f"make_layout({text(tree)}, {text(like(shape() if rng.random() < 0.1 else tree, lambda _: number()))})"
    if op == "make_ordered_layout":
        tree = shape()
        order = list(range(len(oracle.flatten(tree))))
        rng.shuffle(order)
        it = iter(order)
        return f"{op}({text(tree)}, {text(like(tree, lambda _: next(it) if rng.random() < 0.95 else rng.randint(-1, 3)))})"
    if op in ("size", "cosize", "coshape", "coprofile", "table", "injective", "compact", "make_layout_like",
              "make_fragment_like", "right_inverse", "left_inverse", "max_alignment", "get_shape"):
        return f"{op}({pick()[1]})"
    if op == "crd2idx":
        tree, value = pick()
        return f"crd2idx({coordinate(tree)}, {value})"
    if op in ("idx2crd", "get_1d_coord", "get_flat_coord"):
        return f"{op}({number(0, 60)}, {layout()[1]})"
    if op in ("slice", "dice"):
        tree, value = pick(0.12 if op == "slice" else 0)
        return f"{op}({value}, {coordinate(tree, 0.5)})"
    if op == "get":
        return f"get({layout()[1]}, mode=[{','.join(str(rng.randint(0, 2)) for _ in range(rng.randint(1, 2)))}])"
    if op in ("take", "group"):
        return f"{op}({layout()[1]}, begin={rng.randint(0, 2)}, end={rng.randint(0, 3)})"
    if op == "select":
        return f"select({layout()[1]}, indices=[{','.join(str(rng.randint(0, 2)) for _ in range(rng.randint(1, 3)))}])"
    if op in ("append", "prepend"):
        rank = f", rank={rng.randint(1, 5)}" if rng.random() < 0.5 else ""
        return f"{op}({layout()[1]}, {layout(8, basis=0)[1]}{rank})"
    if op == "coalesce":
        profile = ", " + text(tuple(1 for _ in range(rng.randint(2, 3)))) if rng.random() < 0.4 else ""
        return f"coalesce({pick()[1]}{profile})"
    if op == "composition":
        right = rng.random()
        if right < 0.5:
            other = layout(16)[1]
        elif right < 0.75:
            other = f"({rng.choice(EXTENTS)},{rng.choice(EXTENTS)}):({rng.choice([1, 2, 4])},{rng.choice([1, 2, 4, 8])})"
        else:
            other = tiler()
        return f"composition({pick()[1]}, {other})"
    if op in ("complement", "complement_exact"):
        codomain = f", {number(1, 200)}" if rng.random() < 0.7 else ""
        return f"{op}({pick(0.03)[1]}{codomain})"
    if op.endswith("_divide"):
        strict = ", strict=true" if rng.random() < 0.3 else ""
        return f"{op}({pick()[1]}, {tiler()}{strict})"
    if op == "divide_exact":
        return f"{op}({layout(basis=0)[1]}, {tiler()})"
    if op.endswith("_product"):
        other = layout(12, basis=0)[1] if rng.random() < 0.8 or op in ("blocked_product", "raked_product") else tiler()
        return f"{op}({layout(16, basis=0.02)[1]}, {other})"
    if op == "tile_to_shape":
        tree = shape(depth=1, limit=16)
        extents = [oracle_size(x) for x in (tree if isinstance(tree, tuple) else (tree,))]
        extents += [1] * rng.randint(0, 1)
        target = tuple(e * rng.choice([1, 2, 3]) + (rng.random() < 0.03) for e in extents)
        order = list(range(len(target)))
        rng.shuffle(order)
        block = f"{text(tree)}:{text(compact(tree, gaps=rng.random() < 0.1))}"
        if rng.random() < 0.1:
            block = f"S<1,0,1> o 0 o {block}"
        target, order = (target, tuple(order)) if len(target) > 1 else (target[0], order[0])
        return f"tile_to_shape({block}, {text(target)}, {text(order)})"
    if op == "recast":
        widths = rng.choice([(8, 16), (8, 32), (16, 8), (32, 8), (8, 24), (24, 8), (16, 24), (8, 64)])
        value = swizzle() if rng.random() < 0.1 else pick()[1]
        return f"recast({value}, from={widths[0]}, to={widths[1]})"
    if op in ("max_common_vector", "vector_width"):
        tree, value = layout(basis=0)
        other = f"{text(tree)}:{text(compact(tree, gaps=rng.random() < 0.3))}" if rng.random() < 0.9 else layout(basis=0)[1]
        if op == "max_common_vector":
            return f"{op}({value}, {other})"
        align = lambda: rng.choice([2, 4, 8, 16, 32, 12])  # noqa: E731
        return (f"{op}({value}, {other}, bits={rng.choice([8, 16, 32])}, src_align={align()}, dst_align={align()}, "
                f"max_bits={rng.choice([32, 64, 128])})")
    if op == "check_tv":
        tree, value = layout(basis=0)
        return f"check_tv({value}, tile={oracle_size(tree) if rng.random() < 0.9 else 7})"
    if op in ("make_layout_tv", "tv_tile"):
        rank = rng.randint(1, 3)
        trees = [tuple(rng.choice([1, 2, 3, 4]) for _ in range(rank)) for _ in range(2)]
        trees = [t if rank > 1 else t[0] for t in trees]
        return f"{op}(" + ", ".join(f"{text(t)}:{text(compact(t, gaps=rng.random() < 0.1))}" for t in trees) + ")"
    if op == "copy_partition":
        a, b, p, q = (rng.choice([1, 2, 4]) for _ in range(4))
        tv, tile = oracle.make_layout_tv(oracle.parse(f"({a},{b}):({b},1)"), oracle.parse(f"({p},{q}):({q},1)"))
        rows, cols = tile[0] * rng.randint(1, 3), tile[1] * rng.randint(1, 3) + (rng.random() < 0.05)
        stride = rng.choice([f"({cols},1)", f"(1,{rows})", "(3,100)"])
        return (f"copy_partition(({rows},{cols}):{stride}, {tv}, tile={text(tile)}, "
                f"vals={rng.choice([1, 1, 2, p * q])}, thr={rng.randint(0, a * b)})")
    raise KeyError(op)


OPERATIONS = """add sub mul div mod product product_each product_like shape_div ceil_div make_layout
make_ordered_layout make_identity_layout make_layout_like make_fragment_like size cosize coshape coprofile table
injective compact crd2idx crd2idx idx2crd get_1d_coord get_flat_coord slice dice get take group select append prepend
coalesce composition composition composition composition complement complement_exact right_inverse left_inverse
logical_divide zipped_divide tiled_divide flat_divide divide_exact logical_product zipped_product tiled_product
flat_product blocked_product raked_product tile_to_shape recast recast max_common_vector max_alignment vector_width
check_tv make_layout_tv tv_tile copy_partition get_shape""".split()


def equivalent(got, wanted):
    """Sizes, values and the extents above 1 agree."""
    try:
        a, b = oracle.parse(got), oracle.parse(wanted)
        if not all(hasattr(x, "table") for x in (a, b)):
            # A composed layout with offset 0 may be folded, the inverse of a swizzled one is a function.
            return [oracle.apply(a, i) for i in range(b.size)] == [oracle.apply(b, i) for i in range(b.size)]
        big = lambda x: [n for n in oracle.flatten(x.shape) if n > 1]  # noqa: E731
        return big(a) == big(b) and a.size == b.size and a.table() == b.table()
    except Exception:
        return False


def excused(expression_, got, wanted):
    """Where the evaluator does not do what the specification says."""
    op = expression_.split("(")[0]
    # Integer and basis strides are not mixed: append builds a layout like any other.
    if op in ("append", "prepend") and got.startswith("error C14") and "mixes" in got:
        return True
    # C31 before anything else is looked at; the evaluator cuts the tiler or builds an empty mode.
    if (op == "divide_exact" or op.endswith("_product")) and got.startswith("error C31"):
        return True
    # Two faults in one expression: bad extents are looked at first.
    if got.startswith("error C2:") and wanted.startswith("error"):
        return True
    # Every mode of the tiler is looked at, not only those before the first that is not exact.
    if op == "divide_exact" and got.startswith("error") and wanted == "false":
        return True
    # Not defined, whatever the default codomain would be.
    if op == "complement_exact" and got.startswith("error C17"):
        return True
    # Numbers beyond 64 bits: which of two faults is met first, or whether a number is formed at all, is not specified.
    return any(abs(int(n)) >= 2**59 for n in re.findall(r"-?[0-9]+", expression_)) and "error C8" in got + wanted


class TooSlow(Exception):
    pass


def give_up(*_):
    raise TooSlow


def main():
    signal.signal(signal.SIGALRM, give_up)
    if args.file:
        expressions = [line.strip() for line in open(args.file) if line.strip()]
    else:
        expressions = [expression() for _ in range(args.count)]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as batch:
        batch.write("\n".join(expressions) + "\n")
        batch.flush()
        run = subprocess.run([args.tool, "eval", "--batch", batch.name], capture_output=True, text=True)
    lines = run.stdout.splitlines()
    if run.returncode or len(lines) != len(expressions):
        sys.exit(f"atrex-layout: exit code {run.returncode}, {len(lines)} results of {len(expressions)}\n{run.stderr}")
    same = errors = skipped = unspecified = 0
    differences = []
    for text_, got in zip(expressions, lines):
        signal.setitimer(signal.ITIMER_REAL, 0.5)  # It enumerates what it can.
        try:
            wanted = oracle.render(oracle.evaluate(text_))
        except oracle.AlgebraError as error:
            if error.code == "C0":
                skipped += 1
                continue
            wanted = f"error {error.code}"
        except (TooSlow, AssertionError, AttributeError, TypeError, ValueError, KeyError, IndexError, MemoryError):
            skipped += 1
            continue
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if wanted.startswith("error"):
            agree = got.split(":")[0] == wanted
            errors += agree
        else:
            while (short := re.sub(r"(?<!\w)\((-?[0-9]+)\)", r"\1", wanted)) != wanted:
                wanted = short  # A tuple of one integer is the integer.
            agree = got.replace(" ", "") == wanted.replace(" ", "") or equivalent(got, wanted)
        same += agree
        if not agree and excused(text_, got, wanted):
            unspecified += 1
        elif not agree:
            differences.append(f"{text_}\n    got    {got}\n    wanted {wanted}")
    for difference in differences:
        print(difference)
    print(f"{same} agree ({errors} of them errors), {len(differences)} differ, "
          f"{unspecified + skipped} without an answer")
    return 1 if differences else 0


sys.exit(main())
