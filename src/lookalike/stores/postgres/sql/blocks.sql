-- Version 4. The blocks of a SimHash are searched by one function, simhash_rows; those for single blocks are for hot ones only, and have
-- other names.
DROP FUNCTION IF EXISTS lookalike.simhash_words(integer, bigint, integer);
DROP FUNCTION IF EXISTS lookalike.simhash_block0(integer, bigint, integer, bigint, integer);
DROP FUNCTION IF EXISTS lookalike.simhash_block1(integer, bigint, integer, bigint, integer);
DROP FUNCTION IF EXISTS lookalike.simhash_block2(integer, bigint, integer, bigint, integer);
