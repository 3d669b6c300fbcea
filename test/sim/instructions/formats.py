# Exact arithmetic on number formats, from their definitions: values are
# fractions, results are rounded once. Shared by the instruction tests.

from fractions import Fraction


class Format:
    """Sign, exponent and mantissa bits. `special`: the largest exponent means
    infinity and NaN ("ieee"), or its last code NaN ("fn"), or nothing special
    ("none")."""

    def __init__(self, ebits, mbits, bias=None, special="ieee"):
        self.ebits, self.mbits, self.special = ebits, mbits, special
        self.bias = (1 << (ebits - 1)) - 1 if bias is None else bias
        self.emin = 1 - self.bias
        self.width = 1 + ebits + mbits
        self.sign = 1 << (ebits + mbits)
        self.mask = self.sign - 1
        self.inf = ((1 << ebits) - 1) << mbits
        self.quiet = 1 << (mbits - 1)
        self.nan = self.inf | self.quiet
        self.max = {"ieee": self.inf - 1, "fn": self.mask - 1, "none": self.mask}[special]

    def isnan(self, b):
        if self.special == "fn":
            return b & self.mask == self.mask
        return self.special == "ieee" and b & self.mask > self.inf

    def isinf(self, b):
        return self.special == "ieee" and b & self.mask == self.inf

    def neg(self, b):
        return bool(b & self.sign)

    def value(self, b):
        """The number; infinities and NaN are the caller's business."""
        e, m = (b & self.mask) >> self.mbits, b & ((1 << self.mbits) - 1)
        v = Fraction(m if e == 0 else m | 1 << self.mbits) * Fraction(2) ** ((e or 1) - self.bias - self.mbits)
        return -v if self.neg(b) else v

    def round(self, v, mode="even", zero=0, noise=None, saturate=False):
        """Bits of `v`. Modes: even, up, down, zero. `noise` in [0, 1) is added
        below the last kept bit instead (stochastic rounding)."""
        sign = self.sign if v < 0 or (v == 0 and zero) else 0
        a = abs(v)
        if a == 0:
            return sign
        e = a.numerator.bit_length() - a.denominator.bit_length()
        if Fraction(2) ** e > a:
            e -= 1
        e = max(e, self.emin)
        scaled = a / Fraction(2) ** (e - self.mbits)
        q, rest = divmod(scaled, 1)
        q = int(q)
        if noise is not None:
            q += 1 if rest + noise >= 1 else 0
        elif mode == "even":
            q += 1 if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and q & 1) else 0
        elif (mode == "up" and not sign) or (mode == "down" and sign):
            q += 1 if rest else 0
        r = q if q < 1 << self.mbits else ((e - self.emin) << self.mbits) + q
        if r > self.max:
            if saturate or self.special == "none":
                return sign | self.max
            if self.special == "fn":
                return sign | self.mask
            toward = mode == "zero" or (mode == "up" and sign) or (mode == "down" and not sign)
            return sign | (self.max if toward else self.inf)
        return sign | r

    def quieten(self, b):
        return b | self.quiet


F16, F32, F64, BF16 = Format(5, 10), Format(8, 23), Format(11, 52), Format(8, 7)
FP8, BF8 = Format(4, 3, 7, "fn"), Format(5, 2)
FP6, BF6, FP4 = Format(2, 3, 1, "none"), Format(3, 2, 3, "none"), Format(2, 1, 1, "none")


def firstnan(f, *args):
    for b in args:
        if f.isnan(b):
            return f.quieten(b)
    return None


def negate(f, b):
    return b ^ f.sign


def fma(f, a, b, c, mode="even"):
    n = firstnan(f, a, b, c)
    if n is not None:
        return n
    sign = f.neg(a) != f.neg(b)
    azero, bzero = not a & f.mask, not b & f.mask
    if f.isinf(a) or f.isinf(b):
        if azero or bzero or (f.isinf(c) and f.neg(c) != sign):
            return f.nan
        return f.inf | (f.sign if sign else 0)
    if f.isinf(c):
        return c
    product, addend = f.value(a) * f.value(b), f.value(c)
    v = product + addend
    # An exact zero: the common sign, else minus only when rounding down.
    zero = 0
    if v == 0:
        if product == 0 and addend == 0 and sign == f.neg(c):
            zero = sign
        else:
            zero = mode == "down"
    return f.round(v, mode, zero)


def mul(f, a, b, mode="even"):
    n = firstnan(f, a, b)
    if n is not None:
        return n
    sign = f.neg(a) != f.neg(b)
    if f.isinf(a) or f.isinf(b):
        if not a & f.mask or not b & f.mask:
            return f.nan
        return f.inf | (f.sign if sign else 0)
    return f.round(f.value(a) * f.value(b), mode, sign)


def add(f, a, b, mode="even"):
    one = f.round(Fraction(1))
    n = firstnan(f, a, b)
    if n is not None:
        return n
    return fma(f, a, one, b, mode)


def order(f, b):
    """A key that orders numbers, -0 below +0."""
    return -(b & f.mask) - 1 if f.neg(b) else b & f.mask


def minnum(f, a, b):
    if f.isnan(a):
        return f.quieten(a) if f.isnan(b) else b
    if f.isnan(b):
        return a
    return a if order(f, a) <= order(f, b) else b


def maxnum(f, a, b):
    if f.isnan(a):
        return f.quieten(a) if f.isnan(b) else b
    if f.isnan(b):
        return a
    return a if order(f, a) >= order(f, b) else b


def compare(f, a, b):
    """-1, 0, 1, or None when unordered."""
    if f.isnan(a) or f.isnan(b):
        return None
    key = lambda x: 0 if not x & f.mask else order(f, x)
    return (key(a) > key(b)) - (key(a) < key(b))


def convert(src, dst, b, mode="even"):
    if src.isnan(b):
        payload = (b & ((1 << src.mbits) - 1)) | src.quiet
        shift = dst.mbits - src.mbits
        payload = payload << shift if shift >= 0 else payload >> -shift
        return (dst.sign if src.neg(b) else 0) | dst.inf | payload | dst.quiet
    if src.isinf(b):
        return (dst.sign if src.neg(b) else 0) | dst.inf
    return dst.round(src.value(b), mode, src.neg(b))


def toint(f, b, bits, signed):
    """Toward zero, saturated; NaN is zero."""
    lo, hi = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if f.isnan(b):
        return 0
    if f.isinf(b):
        return (lo if f.neg(b) else hi) & ((1 << bits) - 1)
    v = f.value(b)
    n = int(abs(v))
    n = -n if v < 0 else n
    return min(max(n, lo), hi) & ((1 << bits) - 1)


def sext(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x
