-- Version 13. What searches hot blocks is told which blocks have none; it is written anew behind this. The function ranges_around stays: those
-- that were made for tables of the user's own call it.
DROP FUNCTION IF EXISTS lookalike.simhash_hot_blocks(integer, bigint, integer, bigint, integer);
DROP FUNCTION IF EXISTS lookalike.simhash_hot_block0(integer, bigint, integer, bigint, integer);
DROP FUNCTION IF EXISTS lookalike.simhash_hot_block1(integer, bigint, integer, bigint, integer);
DROP FUNCTION IF EXISTS lookalike.simhash_hot_block2(integer, bigint, integer, bigint, integer);
