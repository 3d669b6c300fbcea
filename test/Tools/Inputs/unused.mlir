func.func @f(%a: !atx.layout<(?,?):(?,1)>, %t: !atx.tile<[4|8]>) {
  %0 = atx.size %a : !atx.layout<(?,?):(?,1)>
  %1 = atx.composition %a, %t : !atx.layout<(?,?):(?,1)>, !atx.tile<[4|8]>
  return
}
