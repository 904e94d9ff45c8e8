-- The bands of sketches that share one with any of some queries: with the keys of the first bands of all queries, then of their second, and
-- so on. At most so many. The library asks, before it looks at each query.
CREATE OR REPLACE FUNCTION lookalike.sketches_sharing_any(chosen integer, keys bigint[], queries integer, most bigint)
RETURNS TABLE (bands bigint[])
LANGUAGE plpgsql STABLE ROWS 10
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT bands FROM lookalike.sketches WHERE collection + 0 = chosen AND ({share_any}) LIMIT most;
END $$;
