-- The fingerprints whose block {i} is within (k - {i}) / 3 bits of the query's, and none that an earlier block brings up, where some of
-- these keys are hot: have many more entries than chance would give them. A key d bits from the query's leaves k - d to the other two
-- blocks, so one is within (k - d) / 2 bits of the query's, or the other within (k - d - 1) / 2. A hot key that has many more entries than
-- there are such pairs is narrowed by them: by ranges of the next block, which the index of the pair has in order, and by the last one.
-- Of the next block the upper bits are within so many bits too, and there are fewer of these: as many as leave a few entries to each range.
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
  expected double precision;
  entries bigint;
  upper integer;
  dropped integer;
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
    CONTINUE WHEN rest > 9;   -- too many pairs, and no masks
    keys := array_remove(keys, this);
    expected := 0;
    upper := lookalike.block_width(bits, {next});
    IF rest > 4 THEN   -- else there are few pairs
      -- How many entries it has, from four of 512 parts, one of them the query's own.
      dropped := upper - 9;
      SELECT 128 * count(*) INTO expected
      FROM unnest(lookalike.ranges_around(low, bits, {next}, 1, dropped, 4)) AS other, LATERAL (
        SELECT FROM {{source}} AND block{i} = this AND block{next} BETWEEN other AND other + (1 << dropped) - 1
        LIMIT 20000
      ) AS part;
      upper := least(greatest(ceil(log(2, greatest(expected, 8)::numeric / 8)), 8), upper);
    END IF;
    dropped := lookalike.block_width(bits, {next}) - upper;
    -- A lookup costs as much as ten entries. So it never takes more than twice as long as it must.
    enough := lookalike.keys_within(upper, rest / 2) * (10 + expected / (1 << upper))
      + 10 * lookalike.keys_within(lookalike.block_width(bits, {last}), (rest - 1) / 2);
    entries := enough;
    IF expected < enough THEN
      SELECT count(*),
        array_agg(ordinal) FILTER (WHERE distance <= k{not_earlier}),
        array_agg(simhash) FILTER (WHERE distance <= k{not_earlier})
      INTO entries, ordinals, simhashes
      FROM (
        SELECT ordinal, simhash, lookalike.hamming(simhash, low) AS distance FROM {{source}} AND block{i} = this
        LIMIT enough
      ) AS d;
    END IF;
    IF entries < enough THEN
      RETURN QUERY SELECT o, s, lookalike.hamming(s, low) FROM unnest(ordinals, simhashes) AS found (o, s);
      CONTINUE;
    END IF;
    -- One lookup a range, which OFFSET 0 enforces, and through the index of both, which it takes for the best where one is a range: the
    -- planner does not know that this key is hot. What is within k bits may be further than rest / 2 in the next block: then the last one
    -- is near, and brings it up again unless it is left out here.
    RETURN QUERY SELECT ordinal, simhash, lookalike.hamming(simhash, low)
    FROM unnest(lookalike.ranges_around(low, bits, {next}, rest / 2, dropped)) AS other, LATERAL (
      SELECT ordinal, simhash FROM {{source}} AND block{i} = this AND block{next} BETWEEN other AND other + (1 << dropped) - 1
      OFFSET 0
    ) AS d
    WHERE lookalike.hamming(simhash, low) <= k AND NOT {not_next}{not_earlier};
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
