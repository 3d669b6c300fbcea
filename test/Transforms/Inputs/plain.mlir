func.func @plain(%x: tensor<?x1024xbf16>, %o: tensor<?x1024xbf16> {atx.output}) -> tensor<?x1024xbf16> attributes {atx.operator} {
  return %x : tensor<?x1024xbf16>
}
