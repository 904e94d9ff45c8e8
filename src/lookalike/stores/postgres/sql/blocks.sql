-- Version 4. Two of the indexes of blocks begin with the block; they are made anew behind this. The blocks are searched by one function,
-- simhash_rows; those for single blocks are for hot ones only, and have other names.
DROP INDEX IF EXISTS lookalike.documents_by_block0;
DROP INDEX IF EXISTS lookalike.documents_by_block1;
DROP FUNCTION IF EXISTS lookalike.simhash_words(integer, bigint, integer);
DROP FUNCTION IF EXISTS lookalike.simhash_block0(integer, bigint, integer, bigint, integer);
DROP FUNCTION IF EXISTS lookalike.simhash_block1(integer, bigint, integer, bigint, integer);
DROP FUNCTION IF EXISTS lookalike.simhash_block2(integer, bigint, integer, bigint, integer);
