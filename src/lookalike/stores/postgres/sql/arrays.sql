-- The similarities of arrays that the extension smlar computes. Elements are taken once, NULL is none, and an empty array is similar to
-- nothing. For an index on the array, let && find what shares anything: WHERE tags && q AND lookalike.cosine(tags, q) >= 0.6.
--
-- As in hamming.sql, no name is looked up where the caller says. A function of arrays of any type cannot be looked up when it is made, and to
-- set the path takes a quarter of the time of these two: so each function and operator is named with its schema.

CREATE OR REPLACE FUNCTION lookalike.overlap(a anyarray, b anyarray) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT pg_catalog.count(*)::integer FROM (SELECT pg_catalog.unnest(a) INTERSECT SELECT pg_catalog.unnest(b)) AS shared (element)
  WHERE element IS NOT NULL
$$;

CREATE OR REPLACE FUNCTION lookalike.cosine(a anyarray, b anyarray) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT CASE WHEN x.size OPERATOR(pg_catalog.>) 0 AND y.size OPERATOR(pg_catalog.>) 0 THEN
    lookalike.overlap(a, b)::double precision OPERATOR(pg_catalog./) pg_catalog.sqrt((x.size OPERATOR(pg_catalog.*) y.size)::double precision) ELSE 0 END
  FROM (SELECT pg_catalog.count(DISTINCT element) FROM pg_catalog.unnest(a) AS element) AS x (size),
       (SELECT pg_catalog.count(DISTINCT element) FROM pg_catalog.unnest(b) AS element) AS y (size)
$$;

-- The cosine of the weights tf * idf, where idf is the table of that name in lookalike.idf, and tf of an element that occurs n times is
-- 1 ('const'), n ('n') or 1 + ln n ('log').
CREATE OR REPLACE FUNCTION lookalike.tfidf(a text[], b text[], idf_name text, tf text DEFAULT 'const') RETURNS double precision
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  similarity double precision;
BEGIN
  IF tf NOT IN ('const', 'n', 'log') THEN
    RAISE EXCEPTION 'tf is %, expected const, n or log', quote_literal(tf);
  END IF;
  WITH counted AS (
    SELECT element, count(*) FILTER (WHERE side = 1) AS left_count, count(*) FILTER (WHERE side = 2) AS right_count
    FROM (SELECT unnest(a), 1 UNION ALL SELECT unnest(b), 2) AS elements (element, side)
    GROUP BY element
  ), weighed AS (
    SELECT idf * CASE WHEN left_count = 0 THEN 0 WHEN tf = 'n' THEN left_count WHEN tf = 'log' THEN 1 + ln(left_count::double precision) ELSE 1 END AS x,
           idf * CASE WHEN right_count = 0 THEN 0 WHEN tf = 'n' THEN right_count WHEN tf = 'log' THEN 1 + ln(right_count::double precision) ELSE 1 END AS y
    FROM counted JOIN lookalike.idf USING (element)
    WHERE idf.name = idf_name
  )
  SELECT sum(x * y) / sqrt(nullif(sum(x * x) * sum(y * y), 0)) INTO similarity FROM weighed;
  RETURN coalesce(similarity, 0);
END $$;
