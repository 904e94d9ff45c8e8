"""What an order costs."""

import math


def total(prices, tax=0.2):
    # every price with its tax
    result = 0
    for price in prices:
        result += price * (1 + tax)
    return math.floor(result)


def cheapest(prices):
    best = None
    for price in prices:
        if best is None or price < best:
            best = price
    return best
