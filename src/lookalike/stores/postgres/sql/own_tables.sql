-- Collections on a table of the user's own: indexes on expressions of their column, and functions that search through these. Nothing is
-- copied, so INSERT, UPDATE, DELETE, COPY, TRUNCATE and ROLLBACK need nobody who follows them. Searches run with the rights of whoever calls
-- them: without SELECT on the table they find nothing, and its policies hold.

-- What the indexes are on. Those with a body behind RETURN were looked up when they were made, and are inlined where nothing is in the way.

CREATE OR REPLACE FUNCTION lookalike.not_a_simhash(value text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION '% is not a SimHash of 64 bits', quote_literal(left(value, 60)) USING ERRCODE = 'data_exception',
    HINT = 'Give a whole number below 2^64, or up to 16 hexadecimal digits, with or without 0x.';
END $$;

CREATE OR REPLACE FUNCTION lookalike.simhash_of(value bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN value;

CREATE OR REPLACE FUNCTION lookalike.simhash_of(value bit) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN length(value) = 64 THEN value::bigint ELSE CASE WHEN value IS NOT NULL THEN lookalike.not_a_simhash(value::text) END END;

CREATE OR REPLACE FUNCTION lookalike.simhash_of(value numeric) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN value = trunc(value) AND value >= -9223372036854775808 AND value <= 9223372036854775807 THEN value::bigint
  WHEN value = trunc(value) AND value > 9223372036854775807 AND value <= 18446744073709551615 THEN (value - 18446744073709551616)::bigint
  WHEN value IS NOT NULL THEN lookalike.not_a_simhash(value::text)
END;

CREATE OR REPLACE FUNCTION lookalike.simhash_of(value text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN value COLLATE "C" ~ '^(0[xX])?[0-9a-fA-F]{1,16}$'
    THEN ('x' || lpad(regexp_replace(value COLLATE "C", '^0[xX]', ''), 16, '0'))::bit(64)::bigint
  WHEN value IS NOT NULL THEN lookalike.not_a_simhash(value)
END;

-- The blocks are those of lookalike.documents.
CREATE OR REPLACE FUNCTION lookalike.block0(simhash bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ((simhash & 2047) | ((simhash >> 32 & 1023) << 11))::integer;

CREATE OR REPLACE FUNCTION lookalike.block1(simhash bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ((simhash >> 11 & 2047) | ((simhash >> 42 & 1023) << 11))::integer;

CREATE OR REPLACE FUNCTION lookalike.block2(simhash bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ((simhash >> 22 & 1023) | ((simhash >> 52 & 4095) << 10))::integer;

-- A MinHash is cut into bands of so many values each; those that are left over are in none.
CREATE OR REPLACE FUNCTION lookalike.minhash_bands(minhash bigint[], size integer, rows integer) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF cardinality(minhash) <> size OR array_position(minhash, NULL) IS NOT NULL THEN
    RAISE EXCEPTION 'a MinHash of % values, expected %', cardinality(minhash), size USING ERRCODE = 'data_exception',
      HINT = 'All MinHashes of a column have the same size, and no NULL.';
  END IF;
  RETURN ARRAY(
    SELECT hash_array_extended(minhash[band * rows + 1 : (band + 1) * rows], band) FROM generate_series(0, size / rows - 1) AS band
  );
END $$;

CREATE OR REPLACE FUNCTION lookalike.minhash_bands(minhash integer[], size integer, rows integer) RETURNS bigint[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN lookalike.minhash_bands(minhash::bigint[], size, rows);

-- The share of places in which two MinHashes agree: an estimate of the Jaccard similarity.
CREATE OR REPLACE FUNCTION lookalike.minhash_similarity(a bigint[], b bigint[]) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN (SELECT count(*) FILTER (WHERE x = y)::double precision / nullif(count(*), 0) FROM unnest(a, b) AS places (x, y));

-- The words of a text as SQL can find them, the same on every server whatever its collations: runs of letters and digits, of which ASCII's
-- are folded to lower case, and every ideograph, kana or Hangul syllable by itself.
CREATE OR REPLACE FUNCTION lookalike.words(value text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN ARRAY(
  SELECT found[1] FROM regexp_matches(
    lower(value COLLATE "C"),
    '([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]|[a-z0-9\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u2c00-\u2dff\ua000-\uabff]+)',
    'g'
  ) AS found
);

-- The distinct hashes of all runs of five words; a shorter text is one run.
CREATE OR REPLACE FUNCTION lookalike.features(value text) RETURNS bigint[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN ARRAY(
  SELECT DISTINCT hashtextextended(run COLLATE "C", 0) FROM (
    SELECT string_agg(word, ' ') OVER (ORDER BY place ROWS BETWEEN CURRENT ROW AND 4 FOLLOWING) AS run, place, count(*) OVER () AS words
    FROM unnest(lookalike.words(value)) WITH ORDINALITY AS w (word, place)
  ) AS runs
  WHERE place <= greatest(words - 4, 1)
);

-- A hundred bins of features have their least one each, and an empty one that of the next bin (Shrivastava and Li, densified one permutation
-- hashing): a MinHash in one pass, whose bands these are.
CREATE OR REPLACE FUNCTION lookalike.text_bands(features bigint[], rows integer) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  size constant integer := 100;
  bins bigint[] := array_fill(NULL::bigint, ARRAY[size]);
  feature bigint;
  bin integer;
  following bigint;
BEGIN
  IF cardinality(features) = 0 THEN
    RETURN '{}';
  END IF;
  FOREACH feature IN ARRAY features LOOP
    bin := 1 + ((feature % size) + size) % size;
    bins[bin] := least(bins[bin], feature);   -- least passes over NULL
  END LOOP;
  FOR round IN 1..2 LOOP   -- the second time for those before the first that is not empty
    FOR place IN REVERSE size..1 LOOP
      IF bins[place] IS NULL THEN
        bins[place] := following;
      ELSE
        following := bins[place];
      END IF;
    END LOOP;
  END LOOP;
  RETURN lookalike.minhash_bands(bins, size, rows);
END $$;

CREATE OR REPLACE FUNCTION lookalike.text_bands(value text, rows integer) RETURNS bigint[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN lookalike.text_bands(lookalike.features(value), rows);

CREATE OR REPLACE FUNCTION lookalike.jaccard(a bigint[], b bigint[]) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN (
  SELECT coalesce(shared / nullif(cardinality(a) + cardinality(b) - shared, 0), 0)
  FROM (SELECT count(*)::double precision FROM unnest(a) AS x JOIN unnest(b) AS y ON x = y) AS both_have (shared)
);

-- The most values a band may have, so that of pairs with this similarity 99 % are found.
CREATE OR REPLACE FUNCTION lookalike.band_rows(size integer, threshold double precision) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  SELECT coalesce(max(rows), 1) FROM generate_series(1, least(size, 32)) AS rows
  WHERE 1 - (1 - threshold ^ rows) ^ (size / rows) >= 0.99
);

-- How many rows a table has, as its last ANALYZE says; from its size where there was none.
CREATE OR REPLACE FUNCTION lookalike.estimated_rows(relation regclass) RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN (
    SELECT coalesce(sum(CASE WHEN c.reltuples > 0 THEN c.reltuples ELSE pg_relation_size(c.oid) / 60 END), 0)
    FROM pg_partition_tree(relation) t JOIN pg_class c ON c.oid = t.relid WHERE t.isleaf
  );
END $$;

-- Make a collection on a table. Returns its name: that of the table, unless another is given.
CREATE OR REPLACE FUNCTION lookalike.index_table(
  relation regclass, value_column name, key_column name, kind text DEFAULT 'simhash', collection text DEFAULT NULL,
  threshold double precision DEFAULT 0.8, settings text DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
  of_table record;
  value_type text;
  key_type text;
  called constant text := coalesce(collection, (SELECT relname FROM pg_class WHERE oid = relation));
  number integer;
  suffix text;
  value text := format('%I', value_column);
  rows integer;
  size integer;
  source text;
BEGIN
  SELECT relkind, relpersistence, n.nspname INTO of_table
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = relation;
  IF NOT FOUND OR of_table.relkind NOT IN ('r', 'p', 'm') OR of_table.relpersistence = 't' OR of_table.nspname = 'lookalike' THEN
    RAISE EXCEPTION '% cannot have a collection', relation USING ERRCODE = 'wrong_object_type',
      HINT = 'Give a table, partitioned or not, or a materialized view, which is not temporary and not of the schema lookalike.';
  END IF;
  value_type := lookalike.type_of_column(relation, value_column);
  key_type := lookalike.type_of_column(relation, key_column);
  IF key_type NOT IN ('smallint', 'integer', 'bigint', 'uuid', 'text', 'character varying', 'bpchar') THEN
    RAISE EXCEPTION 'the key % is of the type %', quote_ident(key_column), key_type USING ERRCODE = 'datatype_mismatch',
      HINT = 'A key is a whole number, a uuid or a text.';
  END IF;
  IF kind IS NULL OR NOT (CASE kind
    WHEN 'simhash' THEN value_type IN ('bigint', 'bit(64)', 'numeric', 'text', 'character varying', 'bpchar')
    WHEN 'minhash' THEN value_type IN ('integer[]', 'bigint[]')
    WHEN 'text' THEN value_type IN ('text', 'character varying')
    ELSE false
  END) THEN
    RAISE EXCEPTION '% of the type % cannot be searched as %', quote_ident(value_column), value_type, coalesce(quote_literal(kind), 'NULL')
      USING ERRCODE = 'datatype_mismatch',
      HINT = 'The kinds are simhash (bigint, bit(64), numeric, hexadecimal text), minhash (integer[], bigint[]) and text (text).';
  END IF;
  IF position('$$' IN concat(relation, value_column, key_column)) > 0 THEN
    RAISE EXCEPTION 'a name with $$ in it cannot be written into a function' USING ERRCODE = 'invalid_name';
  END IF;
  IF threshold IS NULL OR NOT threshold BETWEEN 0.01 AND 1 THEN
    RAISE EXCEPTION 'threshold is %, expected a number from 0.01 to 1', threshold USING ERRCODE = 'data_exception';
  END IF;
  IF called = '' OR octet_length(called) > 200 THEN
    RAISE EXCEPTION 'a collection has a name of up to 200 bytes' USING ERRCODE = 'data_exception';
  END IF;
  INSERT INTO lookalike.collections (name, settings, bits)
  VALUES (called, coalesce(settings, '{simhash_settings}'), 64) ON CONFLICT DO NOTHING RETURNING collections.number INTO number;
  IF number IS NULL OR EXISTS (SELECT FROM lookalike.aliases a WHERE a.name = called) THEN
    RAISE EXCEPTION 'there is a collection or an alias % already', quote_literal(called) USING ERRCODE = 'duplicate_object',
      HINT = 'Name another one, or drop it with lookalike.drop_collection.';
  END IF;
  INSERT INTO lookalike.tables VALUES (number, relation, kind, value_column, key_column, threshold);
  suffix := '_of_' || number;
  IF kind = 'simhash' THEN
    -- Where the type says that it is one, nothing is in the way of inlining. The casts are for domains; otherwise they do nothing.
    value := format(CASE WHEN value_type IN ('bigint', 'bit(64)') THEN '(%s::bigint)' ELSE 'lookalike.simhash_of(%s)' END, value);
    FOR block IN 0..2 LOOP
      EXECUTE format(
        'CREATE INDEX %1$I ON %2$s (lookalike.block%3$s(%4$s), lookalike.block%5$s(%4$s)) INCLUDE (%6$I, %7$I) WHERE %6$I IS NOT NULL',
        'lookalike_block' || block || suffix, relation, block, value, (block + 1) % 3, value_column, key_column
      );
    END LOOP;
    source := format(
      '(SELECT %1$I::%5$s AS ordinal, %2$s AS simhash, lookalike.block0(%2$s) AS block0, lookalike.block1(%2$s) AS block1,'
      ' lookalike.block2(%2$s) AS block2 FROM %3$s WHERE %4$I IS NOT NULL) AS own WHERE true',
      key_column, value, relation, value_column, key_type
    );
    EXECUTE replace(replace(replace(replace(
      $template${search_template}$template$, '{suffix}', suffix), '{number}', number::text), '{key_type}', key_type), '{source}', source);
    RETURN called;
  END IF;
  IF kind = 'minhash' THEN
    EXECUTE format('SELECT cardinality(%I) FROM %s WHERE %1$I IS NOT NULL LIMIT 1', value_column, relation) INTO size;
    IF size IS NULL OR size NOT BETWEEN 1 AND 4096 THEN
      RAISE EXCEPTION '% has no MinHash to tell the size of all from', relation USING ERRCODE = 'data_exception',
        HINT = 'Insert a row first. A MinHash has 1 to 4096 values.';
    END IF;
    rows := lookalike.band_rows(size, threshold);
    value := format('lookalike.minhash_bands(%s, %s, %s)', value, size, rows);
  ELSE
    rows := lookalike.band_rows(100, threshold);
    value := format('lookalike.text_bands(%s, %s)', value, rows);
  END IF;
  -- No list of pending entries, which every search would have to read through.
  EXECUTE format('CREATE INDEX %I ON %s USING gin ((%s)) WITH (fastupdate = off)', 'lookalike_bands' || suffix, relation, value);
  -- Of the function's own names none can be meant where the table has a column that is called so.
  EXECUTE format(
    $template$
CREATE FUNCTION lookalike.bands_near%1$s(bigint[], double precision) RETURNS TABLE (key %2$s, similarity double precision)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT near.id, near.score
  FROM (SELECT %3$I::%2$s AS id, %4$s AS score FROM %5$s WHERE %6$s && %7$s OFFSET 0) AS near WHERE near.score >= $2;
END $$
    $template$,
    suffix, key_type, key_column,
    format(
      CASE kind WHEN 'minhash' THEN 'lookalike.minhash_similarity(%I::bigint[], $1)' ELSE 'lookalike.jaccard(lookalike.features(%I), $1)' END,
      value_column
    ),
    relation, value,
    format(CASE kind WHEN 'minhash' THEN 'lookalike.minhash_bands($1, %1$s, %2$s)' ELSE 'lookalike.text_bands($1, %2$s)' END, size, rows)
  );
  RETURN called;
END $function$;

-- The type of a column, without its length unless it is bit; an array's with []. Of a domain, what it is of. Where "character" has no length, it
-- means one letter, so it is called by the name that does not.
CREATE OR REPLACE FUNCTION lookalike.type_of_column(relation regclass, called name) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  found text := (
    WITH RECURSIVE types AS (
      SELECT a.atttypid AS type, a.atttypmod AS size FROM pg_attribute a
      WHERE a.attrelid = relation AND a.attname = called AND a.attnum > 0 AND NOT a.attisdropped
      UNION ALL
      SELECT t.typbasetype, t.typtypmod FROM types JOIN pg_type t ON t.oid = type WHERE t.typtype = 'd'
    )
    SELECT CASE type WHEN 'bpchar'::regtype THEN 'bpchar' WHEN 'bit'::regtype THEN format_type(type, size) ELSE format_type(type, NULL) END
    FROM types JOIN pg_type t ON t.oid = type WHERE t.typtype <> 'd'
  );
BEGIN
  IF found IS NULL THEN
    RAISE EXCEPTION '% has no column %', relation, coalesce(quote_ident(called), 'NULL') USING ERRCODE = 'undefined_column';
  END IF;
  RETURN found;
END $$;
