"""One collection on several stores: each document is in one of them, and all of them are asked."""
