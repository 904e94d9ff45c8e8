-- The fingerprints whose block {i} is within (k - {i}) / 3 bits of the query's, and none that an earlier block brings up.
-- A key that far more documents have than chance would give it (a hot block) is narrowed by the other two blocks: those have k bits
-- between them, so one is within k / 2 of the query's, or the other within (k - 1) / 2.
CREATE OR REPLACE FUNCTION lookalike.simhash_block{i}(collection_number integer, documents bigint, bits integer, low bigint, k integer)
RETURNS TABLE (ordinal bigint, distance integer)
LANGUAGE plpgsql STABLE
AS $$
#variable_conflict use_column
DECLARE
  usual constant double precision := documents::double precision / (1 << lookalike.block_width(bits, {i}));
  keys integer[] := lookalike.keys_around(low, bits, {i}, (k - {i}) / 3);
  hot integer[];
  near_next integer[];
  near_last integer[];
BEGIN
  IF documents > 20000 AND k <= 5 THEN   -- looking would cost as much as it saves beyond
    PERFORM FROM lookalike.documents WHERE collection = collection_number AND simhash IS NOT NULL AND block{i} = ANY (keys)
    OFFSET 2000 + 8 * usual * cardinality(keys) LIMIT 1;
    IF FOUND THEN
      hot := ARRAY(
        SELECT key FROM unnest(keys) AS key
        WHERE EXISTS (
          SELECT FROM lookalike.documents WHERE collection = collection_number AND simhash IS NOT NULL AND block{i} = key
          OFFSET 500 + 8 * usual LIMIT 1
        )
      );
      keys := ARRAY(SELECT key FROM unnest(keys) AS key WHERE key <> ALL (hot));
      near_next := lookalike.keys_around(low, bits, {next}, k / 2);
      -- One lookup a pair, which OFFSET 0 enforces: the planner does not know that these keys are hot, and would read all they have.
      RETURN QUERY SELECT ordinal, lookalike.hamming(simhash, low)
      FROM unnest(hot) AS this, unnest(near_next) AS other, LATERAL (
        SELECT ordinal, simhash FROM lookalike.documents
        WHERE collection = collection_number AND simhash IS NOT NULL AND block{i} = this AND block{next} = other
        OFFSET 0
      ) AS d
      WHERE lookalike.hamming(simhash, low) <= k{not_earlier};
      near_last := CASE WHEN k > 0 THEN lookalike.keys_around(low, bits, {last}, (k - 1) / 2) END;
      RETURN QUERY SELECT ordinal, lookalike.hamming(simhash, low)
      FROM unnest(hot) AS this, unnest(near_last) AS other, LATERAL (
        SELECT ordinal, simhash FROM lookalike.documents
        WHERE collection = collection_number AND simhash IS NOT NULL AND block{i} = this AND block{last} = other
        OFFSET 0
      ) AS d
      WHERE lookalike.hamming(simhash, low) <= k AND {not_next}{not_earlier};
    END IF;
  END IF;
  RETURN QUERY SELECT ordinal, lookalike.hamming(simhash, low) FROM lookalike.documents
  WHERE collection = collection_number AND simhash IS NOT NULL AND block{i} = ANY (keys)
    AND lookalike.hamming(simhash, low) <= k{not_earlier};
END $$;
