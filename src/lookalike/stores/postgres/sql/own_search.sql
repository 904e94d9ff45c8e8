-- The search of a table of the user's own, as simhash_rows is that of lookalike.documents: these are templates, which own_tables.sql fills in.

CREATE FUNCTION lookalike.simhash_scan{suffix}(low bigint, k integer)
RETURNS TABLE (key {key_type}, simhash bigint, distance integer)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp SET max_parallel_workers_per_gather = 8 SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT ordinal, simhash, lookalike.hamming(simhash, low) FROM {source} AND lookalike.hamming(simhash, low) <= k;
END $$;

CREATE FUNCTION lookalike.simhash_near{suffix}(low bigint, k integer)
RETURNS TABLE (key {key_type}, simhash bigint, distance integer)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan
SET random_page_cost = 0 SET cpu_operator_cost = 0
AS $$
#variable_conflict use_column
DECLARE
  bits constant integer := 64;
  documents constant bigint := (SELECT lookalike.estimated_rows(relation) FROM lookalike.tables WHERE collection = {number});
  keys0 integer[];
  keys1 integer[];
  keys2 integer[];
  most bigint;
  enough bigint;
  are_read integer[];
  others_read boolean[];
  ordinals {key_type}[];
  simhashes bigint[];
BEGIN
  IF lookalike.is_scan_cheaper(bits, documents, k) THEN
    RETURN QUERY SELECT key, simhash, distance FROM lookalike.simhash_scan{suffix}(low, k);
    RETURN;
  END IF;
  {read_simhashes}
  RETURN QUERY SELECT DISTINCT found.key, found.simhash, lookalike.hamming(found.simhash, low)
  FROM (
    SELECT * FROM unnest(ordinals, simhashes)
    UNION ALL SELECT hot.ordinal, hot.simhash FROM lookalike.simhash_hot_block0{suffix}(0, documents, bits, low, k, are_read, others_read) AS hot
      WHERE are_read[1] IS NULL
    UNION ALL SELECT hot.ordinal, hot.simhash FROM lookalike.simhash_hot_block1{suffix}(0, documents, bits, low, k, are_read, others_read) AS hot
      WHERE are_read[2] IS NULL
    UNION ALL SELECT hot.ordinal, hot.simhash FROM lookalike.simhash_hot_block2{suffix}(0, documents, bits, low, k, are_read, others_read) AS hot
      WHERE are_read[3] IS NULL
  ) AS found (key, simhash);
END $$;
