-- Hamming distances and searches.
--
-- No function here looks a name up where its caller says: one that others may create in, such as public, would let them put functions and
-- operators of theirs in the place of the server's. Those with a body behind RETURN were looked up when they were made, and can still be
-- inlined; the others set the path.
--
-- Exact for every k: of the three blocks of a fingerprint within k bits, block i is within
-- (k - i) / 3 bits for at least one i. Block i is looked up under all keys so near, and what is found there is counted in full.

CREATE OR REPLACE FUNCTION lookalike.hamming(a bigint, b bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN bit_count((a # b)::bit(64))::integer;

CREATE OR REPLACE FUNCTION lookalike.hamming(a bit varying, b bit varying) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN bit_count(a # b)::integer;

CREATE OR REPLACE FUNCTION lookalike.block_width(bits integer, block integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE bits WHEN 32 THEN CASE block WHEN 2 THEN 10 ELSE 11 END ELSE CASE block WHEN 2 THEN 22 ELSE 21 END END;

-- How many keys of so many bits are within so many bits of each other.
CREATE OR REPLACE FUNCTION lookalike.keys_within(width integer, radius integer) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  ring double precision := 1;
  total double precision := 1;
BEGIN
  FOR flips IN 1..least(radius, width) LOOP
    ring := ring * (width - flips + 1) / flips;
    total := total + ring;
  END LOOP;
  RETURN total;
END $$;

-- All keys within so many bits of a block of a fingerprint. The blocks are those of lookalike.documents.
CREATE OR REPLACE FUNCTION lookalike.keys_around(low bigint, bits integer, block integer, radius integer) RETURNS integer[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  own constant integer := CASE block
    WHEN 0 THEN (low & 2047) | ((low >> 32 & 1023) << 11)
    WHEN 1 THEN (low >> 11 & 2047) | ((low >> 42 & 1023) << 11)
    ELSE (low >> 22 & 1023) | ((low >> 52 & 4095) << 10)
  END;
BEGIN
  IF radius = 0 THEN
    RETURN ARRAY[own];
  ELSIF radius = 1 THEN   -- as the table of masks has it; to read that takes longer than to look most keys up
    RETURN (ARRAY[
      own, own # 1, own # 2, own # 4, own # 8, own # 16, own # 32, own # 64, own # 128, own # 256, own # 512, own # 1024,
      own # 2048, own # 4096, own # 8192, own # 16384, own # 32768, own # 65536, own # 131072, own # 262144, own # 524288, own # 1048576, own # 2097152
    ])[1 : 1 + lookalike.block_width(bits, block)];
  END IF;
  RETURN (
    SELECT ARRAY(SELECT own # mask FROM unnest(m.masks) AS mask)
    FROM lookalike.masks m WHERE m.width = lookalike.block_width(bits, block) AND m.radius = keys_around.radius
  );
END $$;

-- Ranges of a block in which all keys are that are within so many bits of a fingerprint's. They have so many lower bits; but where the bits
-- above these differ in as many places as is allowed, one key is left, and the range is this key.
CREATE OR REPLACE FUNCTION lookalike.near_ranges(low bigint, bits integer, block integer, radius integer, lower_bits integer)
RETURNS TABLE (low_end integer, high_end integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  own constant integer := (lookalike.keys_around(low, bits, block, 0))[1];
  all_bits constant integer := lookalike.block_width(bits, block);
  ranges constant integer := lookalike.keys_within(all_bits - lower_bits, radius);
  ones constant integer := (1 << lower_bits) - 1;
BEGIN
  RETURN QUERY SELECT CASE WHEN is_one_key THEN key ELSE key & ~ones END, CASE WHEN is_one_key THEN key ELSE key | ones END
  FROM (
    SELECT own # (mask << lower_bits) AS key, bit_count(mask::bit(32)) = near_ranges.radius AS is_one_key
    FROM (   -- they ascend
      SELECT unnest(m.masks[:ranges]) AS mask FROM lookalike.masks m WHERE m.width = all_bits AND m.radius = near_ranges.radius
    ) AS flipped
  ) AS near;
END $$;

-- Everything is read, by as many processes as the server allows: the table, where there is little else in it, or else an index.
CREATE OR REPLACE FUNCTION lookalike.simhash_scan(collection_number integer, low bigint, k integer)
RETURNS TABLE (ordinal bigint, distance integer)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_indexscan = on SET enable_indexonlyscan = on SET enable_bitmapscan = off
SET max_parallel_workers_per_gather = 8 SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
BEGIN
  IF (
    SELECT coalesce(4 * c.documents > t.reltuples AND t.relpages < 3 * i.relpages, true)
    FROM lookalike.collections c, pg_class t LEFT JOIN pg_class i ON i.oid = to_regclass('lookalike.documents_by_block2')
    WHERE c.number = collection_number AND t.oid = 'lookalike.documents'::regclass
  ) THEN
    PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true);
  END IF;
  RETURN QUERY SELECT ordinal, lookalike.hamming(simhash, low)
  FROM lookalike.documents
  WHERE collection = collection_number AND simhash IS NOT NULL AND lookalike.hamming(simhash, low) <= k;
END $$;

-- Whether reading everything costs less than the blocks. The costs are microseconds, measured: 3 for a key, 0.25 for an entry under it,
-- 0.15 for an entry of a scan. The table of masks goes to 5 bits.
CREATE OR REPLACE FUNCTION lookalike.is_scan_cheaper(bits integer, documents bigint, k integer) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  cost double precision := 0;
  keys double precision;
BEGIN
  IF k <= 3 AND documents >= 20000 AND bits >= 64 THEN
    RETURN false;
  END IF;
  FOR block IN 0..least(k, 2) LOOP
    keys := lookalike.keys_within(lookalike.block_width(bits, block), (k - block) / 3);
    cost := cost + 3 * keys + 0.25 * keys * documents / (1 << lookalike.block_width(bits, block));
  END LOOP;
  RETURN k > 17 OR cost > 0.15 * documents + 200;
END $$;

-- All ordinals within k bits, by the way that costs less: through the blocks, or by reading everything. Of 128 bits, where the low halves
-- alone must be within k, both halves are counted.
CREATE OR REPLACE FUNCTION lookalike.simhash_rows(collection_number integer, low bigint, high bigint, k integer)
RETURNS TABLE (ordinal bigint, distance integer)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan
SET random_page_cost = 0 SET cpu_operator_cost = 0   -- lookups cost nothing: the index that narrows most, however few rows it expects
AS $$
#variable_conflict use_column
DECLARE
  bits integer;
  documents bigint;
  keys0 integer[];
  keys1 integer[];
  keys2 integer[];
  most bigint;
  enough bigint;
  are_read integer[];
  others_read boolean[];
  ordinals bigint[];
  simhashes bigint[];
BEGIN
  IF high IS NOT NULL THEN
    RETURN QUERY SELECT d.ordinal, w.distance + lookalike.hamming(d.simhash_high, high)
    FROM lookalike.simhash_rows(collection_number, low, NULL, k) w
    JOIN lookalike.documents d ON d.collection = collection_number AND d.ordinal = w.ordinal
    WHERE w.distance + lookalike.hamming(d.simhash_high, high) <= k;
    RETURN;
  END IF;
  SELECT c.bits, c.documents INTO bits, documents FROM lookalike.collections c WHERE c.number = collection_number;
  IF lookalike.is_scan_cheaper(bits, documents, k) THEN
    RETURN QUERY SELECT ordinal, distance FROM lookalike.simhash_scan(collection_number, low, k);
    RETURN;
  END IF;
  {read_simhashes}
  IF array_position(are_read, NULL) IS NULL THEN
    RETURN QUERY SELECT DISTINCT found.ordinal, lookalike.hamming(found.simhash, low)
    FROM unnest(ordinals, simhashes) AS found (ordinal, simhash);
  ELSE
    RETURN QUERY SELECT found.ordinal, lookalike.hamming(found.simhash, low) FROM unnest(ordinals, simhashes) AS found (ordinal, simhash)
    UNION SELECT ordinal, distance FROM lookalike.simhash_hot_blocks(collection_number, documents, bits, low, k, are_read, others_read);
  END IF;
END $$;

-- What is under the keys of those blocks of which some are hot.
CREATE OR REPLACE FUNCTION lookalike.simhash_hot_blocks(
  collection_number integer, documents bigint, bits integer, low bigint, k integer, are_read integer[], others_read boolean[]
)
RETURNS TABLE (ordinal bigint, distance integer)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  IF are_read[1] IS NULL THEN
    RETURN QUERY SELECT ordinal, distance FROM lookalike.simhash_hot_block0(collection_number, documents, bits, low, k, are_read, others_read);
  END IF;
  IF are_read[2] IS NULL THEN
    RETURN QUERY SELECT ordinal, distance FROM lookalike.simhash_hot_block1(collection_number, documents, bits, low, k, are_read, others_read);
  END IF;
  IF are_read[3] IS NULL THEN
    RETURN QUERY SELECT ordinal, distance FROM lookalike.simhash_hot_block2(collection_number, documents, bits, low, k, are_read, others_read);
  END IF;
END $$;

-- What is meant where no k is given: SET lookalike.k = 5, as smlar has smlar.threshold.
CREATE OR REPLACE FUNCTION lookalike.setting_k() RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(nullif(current_setting('lookalike.k', true), '')::integer, 3);

-- The key of a user's table as a number, as an expression; NULL where it is none.
CREATE OR REPLACE FUNCTION lookalike.key_number(collection_number integer) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  own record;
BEGIN
  SELECT t.key_column, c.oid::regclass AS relation INTO own
  FROM lookalike.tables t LEFT JOIN pg_class c ON c.oid = t.relation WHERE t.collection = collection_number;
  IF own.relation IS NULL THEN
    RAISE EXCEPTION 'the table of this collection is gone' USING ERRCODE = 'undefined_table', HINT = 'Drop it with lookalike.drop_collection.';
  END IF;
  RETURN CASE WHEN lookalike.type_of_column(own.relation, own.key_column) IN ('smallint', 'integer', 'bigint') THEN 'key::bigint'
    ELSE 'NULL::bigint' END;
END $$;

CREATE OR REPLACE FUNCTION lookalike.search_simhash(collection text, q bigint, k integer DEFAULT NULL, q_high bigint DEFAULT NULL)
RETURNS TABLE (id text, id_number bigint, simhash bigint, distance integer)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan
SET random_page_cost = 0 SET cpu_operator_cost = 0   -- lookups cost nothing: the index that narrows most, however few rows it expects
AS $$
#variable_conflict use_column
DECLARE
  collection_number integer;
  bits integer;
  documents bigint;
  kind_of_table text;
  low bigint := q;
  keys0 integer[];
  keys1 integer[];
  keys2 integer[];
  most bigint;
  enough bigint;
  are_read integer[];
  others_read boolean[];
  ordinals bigint[];
BEGIN
  SELECT c.number, c.bits, c.documents, t.kind INTO collection_number, bits, documents, kind_of_table
  FROM lookalike.collections c LEFT JOIN lookalike.tables t ON t.collection = c.number WHERE c.name = search_simhash.collection;
  IF NOT FOUND THEN   -- an alias
    SELECT c.number, c.bits, c.documents, t.kind INTO collection_number, bits, documents, kind_of_table FROM lookalike.collections c
    LEFT JOIN lookalike.tables t ON t.collection = c.number WHERE c.number = lookalike.collection_named(search_simhash.collection);
  END IF;
  k := coalesce(k, lookalike.setting_k());
  IF k < 0 OR q IS NULL OR (q_high IS NULL) <> (bits < 128) THEN
    RAISE EXCEPTION 'q is a fingerprint of % bits, and k is 0 or more', bits
      USING HINT = 'Of 128 bits, q is the low half and q_high the other.';
  END IF;
  IF bits = 32 THEN
    q := (lookalike.checked_simhashes(collection_number, ARRAY[q]))[1];
    low := q;
  END IF;
  IF kind_of_table = 'simhash' THEN
    RETURN QUERY EXECUTE format(
      'SELECT key::text, %s, simhash, distance FROM lookalike.simhash_near_of_%s($1, $2) AS near ORDER BY distance, near.key',
      lookalike.key_number(collection_number), collection_number
    ) USING q, k;
    RETURN;
  ELSIF kind_of_table IS NOT NULL THEN
    RAISE EXCEPTION 'the collection % is on a column of the kind %', quote_literal(collection), kind_of_table
      USING HINT = 'Search it with lookalike.search_near.';
  END IF;
  IF bits = 64 AND k <= 3 AND documents >= 20000 THEN   -- the usual search, for which a call would cost a good part of the time
    {read_ordinals}
    IF array_position(are_read, NULL) IS NOT NULL THEN
      ordinals := ordinals || ARRAY(SELECT ordinal FROM lookalike.simhash_hot_blocks(collection_number, documents, bits, low, k, are_read, others_read));
    END IF;
  ELSE
    ordinals := ARRAY(SELECT ordinal FROM lookalike.simhash_rows(collection_number, q, q_high, k));
  END IF;
  RETURN QUERY SELECT coalesce(id_text, id_number::text), id_number, simhash,
    lookalike.hamming(simhash, q) + CASE WHEN q_high IS NULL THEN 0 ELSE lookalike.hamming(simhash_high, q_high) END AS distance
  FROM lookalike.documents d
  WHERE collection = collection_number AND ordinal = ANY (ordinals) AND NOT EXISTS (
    SELECT FROM lookalike.expiring e
    WHERE e.collection = collection_number AND e.ordinal = d.ordinal AND e.expires <= extract(epoch FROM clock_timestamp()) * 1000
  )
  ORDER BY distance, ordinal;
END $$;
