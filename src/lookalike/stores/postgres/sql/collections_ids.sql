-- The functions of collections.sql for one type of ids, which are kept in one of two columns.

CREATE OR REPLACE FUNCTION lookalike.add_simhashes(collection text, ids {ids}[], simhashes bigint[]) RETURNS bigint
LANGUAGE sql
RETURN lookalike.put_simhashes(collection, {texts}, {numbers}, simhashes);

CREATE OR REPLACE FUNCTION lookalike.add_simhashes(collection text, ids {ids}[], simhashes bit(64)[]) RETURNS bigint
LANGUAGE sql
RETURN lookalike.put_simhashes(collection, {texts}, {numbers}, simhashes::bigint[]);

CREATE OR REPLACE FUNCTION lookalike.remove(collection text, ids {ids}[]) RETURNS bigint
LANGUAGE sql
RETURN lookalike.take_away(collection, {texts}, {numbers});

CREATE OR REPLACE FUNCTION lookalike.admit_simhashes(collection text, ids {ids}[], simhashes bigint[], k integer DEFAULT NULL)
RETURNS TABLE (id {ids}, admitted boolean, match text, match_number bigint, distance integer)
LANGUAGE sql
BEGIN ATOMIC
  SELECT ids[place], l.admitted, l.match, l.match_number, l.distance
  FROM lookalike.let_in(collection, {texts}, {numbers}, simhashes, k) WITH ORDINALITY AS l (admitted, match, match_number, distance, place);
END;

CREATE OR REPLACE FUNCTION lookalike.admit_simhash(collection text, id {ids}, simhash bigint, k integer DEFAULT NULL)
RETURNS TABLE (admitted boolean, match text, match_number bigint, distance integer)
LANGUAGE sql
BEGIN ATOMIC
  SELECT a.admitted, a.match, a.match_number, a.distance FROM lookalike.admit_simhashes(collection, ARRAY[id], ARRAY[simhash], k) AS a;
END;
