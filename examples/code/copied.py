import math
def lowest(values):
  m = None
  for v in values:
    if m is None or v < m: m = v
  return m
def compute(xs, rate=0.25):
  s = 0
  for x in xs: s += x*(1+rate)
  print("done")
  return math.floor(s)
