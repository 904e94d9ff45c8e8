-- The fingerprints whose block {i} is within (k - {i}) / 3 bits of the query's, and none that an earlier block brings up, where some of
-- these keys are hot: have many more entries than chance would give them. A key d bits from the query's leaves k - d to the other two
-- blocks, so one is within (k - d) / 2 bits of the query's, or the other within (k - d - 1) / 2. A hot key that has many more entries than
-- there are such pairs is narrowed by them, pair by pair.
--
-- {{source}} has the columns ordinal, simhash and the blocks, and ends with a condition: lookalike.documents, or a table of the user's own
-- (own_tables.sql), for which {{suffix}} makes the names differ.
CREATE OR REPLACE FUNCTION lookalike.simhash_hot_block{i}{{suffix}}(collection_number integer, documents bigint, bits integer, low bigint, k integer)
RETURNS TABLE (ordinal {{key_type}}, simhash bigint, distance integer)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  usual constant double precision := documents::double precision / (1 << lookalike.block_width(bits, {i}));
  keys integer[] := lookalike.keys_around(low, bits, {i}, (k - {i}) / 3);
  own constant integer := (lookalike.keys_around(low, bits, {i}, 0))[1];
  enough bigint;
  entries bigint;
  ordinals {{key_type}}[];
  simhashes bigint[];
  this integer;
  rest integer;
BEGIN
  FOR this IN
    SELECT key FROM unnest(keys) AS key
    WHERE EXISTS (
      SELECT FROM {{source}} AND block{i} = key
      OFFSET 500 + 4 * usual LIMIT 1
    )
  LOOP
    rest := k - bit_count((this # own)::bit(32))::integer;
    CONTINUE WHEN rest > 7;   -- too many pairs
    keys := array_remove(keys, this);
    -- A pair costs as much as twelve entries: so it never takes more than twice as long as it must.
    enough := 12 * (lookalike.keys_within(lookalike.block_width(bits, {next}), rest / 2)
      + lookalike.keys_within(lookalike.block_width(bits, {last}), (rest - 1) / 2));
    SELECT count(*),
      array_agg(ordinal) FILTER (WHERE distance <= k{not_earlier}),
      array_agg(simhash) FILTER (WHERE distance <= k{not_earlier})
    INTO entries, ordinals, simhashes
    FROM (
      SELECT ordinal, simhash, lookalike.hamming(simhash, low) AS distance FROM {{source}} AND block{i} = this
      LIMIT enough
    ) AS d;
    IF entries < enough THEN
      RETURN QUERY SELECT o, s, lookalike.hamming(s, low) FROM unnest(ordinals, simhashes) AS found (o, s);
      CONTINUE;
    END IF;
    -- One lookup a pair, which OFFSET 0 enforces, and through the index of both, which it takes for the best where one is a range: the
    -- planner does not know that this key is hot.
    RETURN QUERY SELECT ordinal, simhash, lookalike.hamming(simhash, low)
    FROM unnest(lookalike.keys_around(low, bits, {next}, rest / 2)) AS other, LATERAL (
      SELECT ordinal, simhash FROM {{source}} AND block{i} = this AND block{next} BETWEEN other AND other
      OFFSET 0
    ) AS d
    WHERE lookalike.hamming(simhash, low) <= k{not_earlier};
    CONTINUE WHEN rest = 0;
    RETURN QUERY SELECT ordinal, simhash, lookalike.hamming(simhash, low)
    FROM unnest(lookalike.keys_around(low, bits, {last}, (rest - 1) / 2)) AS other, LATERAL (
      SELECT ordinal, simhash FROM {{source}} AND block{last} = other AND block{i} BETWEEN this AND this
      OFFSET 0
    ) AS d
    WHERE lookalike.hamming(simhash, low) <= k AND {not_next}{not_earlier};
  END LOOP;
  RETURN QUERY SELECT ordinal, simhash, lookalike.hamming(simhash, low) FROM {{source}} AND block{i} = ANY (keys)
    AND lookalike.hamming(simhash, low) <= k{not_earlier};
END $$;
