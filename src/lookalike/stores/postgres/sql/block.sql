-- The fingerprints whose block {i} is within (k - {i}) / 3 bits of the query's, and none that an earlier block brings up, where some of
-- these keys are hot: have many more entries than chance would give them.
--
-- A key d bits from the query's leaves k - d to the other two blocks: so one is within a bits of the query's, or the other within
-- k - d - 1 - a. A hot key is narrowed by such keys, of the next block, which the index of the pair has in order, and of the last one. What is
-- as near in a block that was read in full (are_read) was found there: these keys cost nothing. So a is chosen for the least cost.
--
-- {{source}} has the columns ordinal, simhash and the blocks, and ends with a condition: lookalike.documents, or a table of the user's own
-- (own_tables.sql), for which {{suffix}} makes the names differ.
CREATE OR REPLACE FUNCTION lookalike.simhash_hot_block{i}{{suffix}}(
  collection_number integer, documents bigint, bits integer, low bigint, k integer, are_read integer[], others_read boolean[]
)
RETURNS TABLE (ordinal {{key_type}}, simhash bigint, distance integer)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET random_page_cost = 4 SET cpu_operator_cost = 0.0025   -- as usual: here what many lookups cost counts
AS $$
#variable_conflict use_column
DECLARE
  -- Microseconds, as measured: to look up a range, to read an entry, and to look up a key of the last block, which is anywhere in the index.
  lookup constant double precision := 1.5;
  entry constant double precision := 0.15;
  far_lookup constant double precision := 3;
  usual constant double precision := documents::double precision / (1 << lookalike.block_width(bits, {i}));
  most constant bigint := 500 + 4 * usual;   -- entries of a key that is not hot
  own constant integer := (lookalike.keys_around(low, bits, {i}, 0))[1];
  own_next constant integer := (lookalike.keys_around(low, bits, {next}, 0))[1];
  next_width constant integer := lookalike.block_width(bits, {next});
  next_read constant integer := coalesce(are_read[{next} + 1], -1);
  last_read constant integer := coalesce(are_read[{last} + 1], -1);
  this record;
  rest integer;
  expected double precision;
  upper integer;
  radius integer;
  cost double precision;
  least_cost double precision;
  enough bigint;
  entries bigint;
  ordinals {{key_type}}[];
  simhashes bigint[];
BEGIN
  FOR this IN
    SELECT key, entries, ordinals, simhashes
    FROM unnest(CASE WHEN others_read[{i} + 1] THEN ARRAY[own] ELSE lookalike.keys_around(low, bits, {i}, (k - {i}) / 3) END) AS key, LATERAL (
      SELECT count(*) AS entries, array_agg(ordinal) FILTER (WHERE is_near) AS ordinals, array_agg(simhash) FILTER (WHERE is_near) AS simhashes
      FROM (
        SELECT ordinal, simhash, lookalike.hamming(simhash, low) <= k{not_earlier} AS is_near FROM {{source}} AND block{i} = key LIMIT most
      ) AS d
    ) AS under_it
    WHERE ordinals IS NOT NULL OR entries = most
  LOOP
    IF this.entries < most THEN
      RETURN QUERY SELECT o, s, lookalike.hamming(s, low) FROM unnest(this.ordinals, this.simhashes) AS near (o, s);
      CONTINUE;
    END IF;
    rest := k - bit_count((this.key # own)::bit(32))::integer;
    -- How many entries it has, from four of 1024 parts, one of them the query's own.
    SELECT greatest(256 * count(*), most) INTO expected
    FROM (SELECT ((own_next >> next_width - 10) # part) << next_width - 10 AS low_end FROM unnest(ARRAY[0, 1, 2, 4]) AS part) AS p, LATERAL (
      SELECT FROM {{source}} AND block{i} = this.key AND block{next} BETWEEN low_end AND low_end + (1 << next_width - 10) - 1
      LIMIT 10000
    ) AS d;
    upper := least(ceil(ln(expected / 32) / ln(2::double precision)), next_width);   -- so that a range has about so many
    least_cost := 'infinity';
    FOR a IN greatest(next_read, rest - 6) .. least(rest - 1 - last_read, 5) LOOP   -- masks go to 5 bits
      cost := CASE WHEN a <= next_read THEN 0
          ELSE lookup * lookalike.keys_within(upper, a) + entry * lookalike.keys_within(upper, a - 1) * expected / (1 << upper) END
        + CASE WHEN rest - 1 - a <= last_read THEN 0 ELSE far_lookup * lookalike.keys_within(lookalike.block_width(bits, {last}), rest - 1 - a) END;
      IF cost < least_cost THEN
        least_cost := cost;
        radius := a;
      END IF;
    END LOOP;
    -- Reading all of it ends where narrowing would have cost less: so it never takes more than twice as long as it must.
    enough := least(least_cost / entry, 1e18) + 1;
    IF expected < enough THEN
      SELECT count(*), array_agg(ordinal) FILTER (WHERE is_near), array_agg(simhash) FILTER (WHERE is_near)
      INTO entries, ordinals, simhashes
      FROM (
        SELECT ordinal, simhash, lookalike.hamming(simhash, low) <= k{not_earlier} AS is_near FROM {{source}} AND block{i} = this.key
        LIMIT enough
      ) AS d;
      IF entries < enough THEN
        RETURN QUERY SELECT o, s, lookalike.hamming(s, low) FROM unnest(ordinals, simhashes) AS near (o, s);
        CONTINUE;
      END IF;
    END IF;
    -- One lookup a range, which OFFSET 0 enforces, and through the index of both, which it takes for the best where one is a range: the
    -- planner does not know that this key is hot.
    IF radius > next_read THEN
      RETURN QUERY SELECT ordinal, simhash, lookalike.hamming(simhash, low)
      FROM lookalike.near_ranges(low, bits, {next}, radius, next_width - upper) AS near, LATERAL (
        SELECT ordinal, simhash FROM {{source}} AND block{i} = this.key AND block{next} BETWEEN near.low_end AND near.high_end
          AND lookalike.hamming(simhash, low) <= k AND NOT {not_next}{not_earlier}
        OFFSET 0
      ) AS d;
    END IF;
    IF rest - 1 - radius > last_read THEN
      RETURN QUERY SELECT ordinal, simhash, lookalike.hamming(simhash, low)
      FROM unnest(lookalike.keys_around(low, bits, {last}, rest - 1 - radius)) AS near, LATERAL (
        SELECT ordinal, simhash FROM {{source}} AND block{last} = near
          AND block{i} BETWEEN this.key AND this.key AND lookalike.hamming(simhash, low) <= k AND {not_next}{not_earlier}
        OFFSET 0
      ) AS d;
    END IF;
  END LOOP;
END $$;
