-- The groups of equal contents that share bands with a query, those that share the most first, then the oldest: how many bands, how many
-- documents, the oldest of these, and how many groups there are in all. The library asks.
--
-- A template for each table of sketches. In two statements: most queries share nothing, and to begin the second one takes as long as to find
-- that out. Both are planned once a session, which takes longer than to run them.
CREATE OR REPLACE FUNCTION lookalike.{sketches}_sharing(chosen integer, keys bigint[], most bigint, most_members bigint)
RETURNS TABLE (digest bigint, shared bigint, size bigint, total bigint, members bigint[])
LANGUAGE plpgsql STABLE ROWS 10
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  digests bigint[];
  counts bigint[];
BEGIN
  -- "collection + 0": through the indexes of bands, not by the primary key, which the planner likes before it has statistics.
  SELECT array_agg(digest), array_agg((SELECT count(*) FROM unnest(bands) AS key WHERE key = ANY (keys))) INTO digests, counts
  FROM lookalike.{sketches} WHERE collection + 0 = chosen AND ({share});
  IF digests IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
  SELECT wanted, shared, size, total, ARRAY(
    SELECT ordinal FROM {members_alive} WHERE collection = chosen AND {digest} = wanted ORDER BY ordinal LIMIT most_members
  )
  FROM (
    SELECT wanted, shared, size, first, count(*) OVER () AS total
    FROM unnest(digests, counts) AS found (wanted, shared), LATERAL (
      SELECT count(*) AS size, min(ordinal) AS first FROM lookalike.{members} WHERE collection = chosen AND {digest} = wanted
    ) AS having_it
    WHERE size > 0 ORDER BY shared DESC, first LIMIT most
  ) AS best
  ORDER BY shared DESC, first;
END $$;
