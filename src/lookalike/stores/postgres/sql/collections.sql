-- Collections of SimHashes from SQL alone: made, dropped, added to, removed from, asked and added to at once. Ids are whole numbers, uuids or
-- texts; in the library, a uuid is the text that it is written as.

-- lookalike.counted is on in every transaction of the library, and while these functions delete: they count the documents themselves, see
-- count_deleted. It is set in their bodies, since only a superuser may make a function with a setting that the server does not know.

CREATE OR REPLACE FUNCTION lookalike.create_collection(name text, bits integer DEFAULT 64) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  made integer;
BEGIN
  IF bits IS NULL OR bits NOT IN (32, 64, 128) OR coalesce(octet_length(name), 0) NOT BETWEEN 1 AND 200 THEN
    RAISE EXCEPTION 'a collection has a name of up to 200 bytes, and 32, 64 or 128 bits' USING ERRCODE = 'data_exception';
  END IF;
  INSERT INTO lookalike.collections (name, settings, bits)
  VALUES (create_collection.name, CASE bits WHEN 32 THEN '{simhash_settings_32}' WHEN 64 THEN '{simhash_settings}' ELSE '{simhash_settings_128}' END, bits)
  ON CONFLICT DO NOTHING RETURNING number INTO made;
  IF made IS NULL OR EXISTS (SELECT FROM lookalike.aliases a WHERE a.name = create_collection.name) THEN
    RAISE EXCEPTION 'there is a collection or an alias % already', quote_literal(name) USING ERRCODE = 'duplicate_object';
  END IF;
  RETURN made;
END $$;

-- A collection with all that belongs to it, or an alias. Of one on a table of the user's own, what was made for it: the table stays as it is.
CREATE OR REPLACE FUNCTION lookalike.drop_collection(name text) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  chosen integer;
  on_table record;
  other text;
  gone bigint;
  counted constant text := coalesce(current_setting('lookalike.counted', true), '');
BEGIN
  DELETE FROM lookalike.aliases a WHERE a.name = drop_collection.name;
  IF FOUND THEN   -- what it led to stays
    RETURN 0;
  END IF;
  DELETE FROM lookalike.collections c WHERE c.name = drop_collection.name RETURNING number INTO chosen;   -- writers wait from here on
  IF NOT FOUND THEN
    PERFORM lookalike.collection_named(name);   -- says so
  END IF;
  FOR other IN   -- found by its name: the table, and with it the index, may be gone
    SELECT i.oid::regclass FROM pg_class i WHERE i.relkind IN ('i', 'I') AND i.relname = ANY (ARRAY[
      'lookalike_block0_of_' || chosen, 'lookalike_block1_of_' || chosen, 'lookalike_block2_of_' || chosen, 'lookalike_bands_of_' || chosen
    ]) AND EXISTS (
      SELECT FROM pg_index x JOIN lookalike.tables t ON t.relation = x.indrelid WHERE x.indexrelid = i.oid AND t.collection = chosen
    )
  LOOP
    EXECUTE format('DROP INDEX %s', other);
  END LOOP;
  FOR other IN
    SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'lookalike'::regnamespace
      AND p.proname ~ ('^(simhash_(near|scan|hot_block[012])|bands_near)_of_' || chosen || '$')
  LOOP
    EXECUTE format('DROP FUNCTION %s', other);
  END LOOP;
  PERFORM set_config('lookalike.counted', 'on', true);
  DELETE FROM lookalike.documents WHERE collection = chosen;
  GET DIAGNOSTICS gone = ROW_COUNT;
  PERFORM set_config('lookalike.counted', counted, true);
  FOR other IN   -- whatever else has rows of collections; first what refers to others
    SELECT c.oid::regclass FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'collection' AND NOT a.attisdropped
    WHERE c.relnamespace = 'lookalike'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'documents'
    ORDER BY (SELECT count(*) FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f') DESC
  LOOP
    EXECUTE format('DELETE FROM %s WHERE collection = $1', other) USING chosen;
  END LOOP;
  RETURN gone;
END $$;

CREATE OR REPLACE FUNCTION lookalike.collection_for_simhashes(name text, ids integer, simhashes integer) RETURNS integer
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  chosen record;
BEGIN
  SELECT c.number, c.bits, t.collection IS NOT NULL AS of_table INTO chosen
  FROM lookalike.collections c LEFT JOIN lookalike.tables t ON t.collection = c.number WHERE c.number = lookalike.collection_named(collection_for_simhashes.name);
  IF chosen.of_table THEN
    RAISE EXCEPTION 'the collection % is on a table of your own', quote_literal(name) USING HINT = 'Change the table: its collection is always current.';
  END IF;
  IF chosen.bits > 64 OR ids IS DISTINCT FROM simhashes OR ids >= 1 << 20 THEN
    RAISE EXCEPTION '% ids and % fingerprints for a collection of % bits', ids, simhashes, chosen.bits
      USING HINT = 'Give as many of one as of the other, fewer than 1048576 at a time, of 32 or 64 bits.';
  END IF;
  RETURN chosen.number;
END $$;

-- The fingerprints as the library writes them: of 32 bits without a sign. Neither they nor the ids may be NULL, nor what it cannot keep.
CREATE OR REPLACE FUNCTION lookalike.checked_simhashes(chosen integer, simhashes bigint[]) RETURNS bigint[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  is_narrow constant boolean := (SELECT c.bits = 32 FROM lookalike.collections c WHERE c.number = chosen);
BEGIN
  IF EXISTS (SELECT FROM unnest(simhashes) AS value WHERE value IS NULL OR is_narrow AND value NOT BETWEEN -2147483648 AND 4294967295) THEN
    RAISE EXCEPTION 'a fingerprint is NULL, or has more bits than the collection' USING ERRCODE = 'data_exception',
      HINT = 'Leave out what has none. Of 32 bits, give -2147483648 to 4294967295.';
  END IF;
  RETURN CASE WHEN is_narrow
    THEN ARRAY(SELECT value & 4294967295 FROM unnest(simhashes) WITH ORDINALITY AS given (value, place) ORDER BY place) ELSE simhashes END;
END $$;

CREATE OR REPLACE FUNCTION lookalike.check_ids(id_texts text[], id_numbers bigint[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF EXISTS (SELECT FROM unnest(id_texts) AS id WHERE coalesce(octet_length(id), 0) NOT BETWEEN 1 AND 2048)
    OR EXISTS (SELECT FROM unnest(id_numbers) AS id WHERE id IS NULL)
  THEN
    RAISE EXCEPTION 'an id is NULL, empty or longer than 2048 bytes' USING ERRCODE = 'data_exception';
  END IF;
END $$;

-- Documents without text; one of the two ids of each is NULL. Of an id that is there, or comes twice, the last counts. Returns how many were new:
-- the caller counts them, at his end, since from there on other writers of the collection wait.
CREATE OR REPLACE FUNCTION lookalike.insert_simhashes(chosen integer, id_texts text[], id_numbers bigint[], simhashes bigint[]) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  first constant bigint := nextval('lookalike.transactions') << 20;
  removed bigint;
  added bigint;
  counted constant text := coalesce(current_setting('lookalike.counted', true), '');
BEGIN
  PERFORM set_config('lookalike.counted', 'on', true);
  {delete_known}
  PERFORM set_config('lookalike.counted', counted, true);
  INSERT INTO lookalike.documents (collection, ordinal, id_text, id_number, simhash)
  SELECT chosen, first + max(place), id_text, id_number, (array_agg(value ORDER BY place DESC))[1]
  FROM unnest(id_texts, id_numbers, simhashes) WITH ORDINALITY AS given (id_text, id_number, value, place)
  GROUP BY id_text, id_number;
  GET DIAGNOSTICS added = ROW_COUNT;
  RETURN added - removed;
END $$;

CREATE OR REPLACE FUNCTION lookalike.put_simhashes(collection text, id_texts text[], id_numbers bigint[], simhashes bigint[]) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  chosen constant integer := lookalike.collection_for_simhashes(
    collection, coalesce(cardinality(id_texts), cardinality(id_numbers)), cardinality(simhashes)
  );
  added bigint;
BEGIN
  PERFORM lookalike.check_ids(id_texts, id_numbers);
  added := lookalike.insert_simhashes(chosen, id_texts, id_numbers, lookalike.checked_simhashes(chosen, simhashes));
  UPDATE lookalike.collections SET documents = documents + added WHERE number = chosen;
  RETURN added;
END $$;

CREATE OR REPLACE FUNCTION lookalike.take_away(collection text, id_texts text[], id_numbers bigint[]) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  chosen constant integer := lookalike.collection_for_simhashes(collection, 0, 0);
  removed bigint;
  counted constant text := coalesce(current_setting('lookalike.counted', true), '');
BEGIN
  PERFORM set_config('lookalike.counted', 'on', true);
  {delete_known}
  PERFORM set_config('lookalike.counted', counted, true);
  UPDATE lookalike.collections SET documents = documents - removed WHERE number = chosen AND removed > 0;
  RETURN removed;
END $$;

-- Each fingerprint, in order: added, or not because of the nearest that is within k bits. One of any number of callers with near ones adds his.
CREATE OR REPLACE FUNCTION lookalike.let_in(collection text, id_texts text[], id_numbers bigint[], simhashes bigint[], k integer)
RETURNS TABLE (admitted boolean, match text, match_number bigint, distance integer)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  chosen constant integer := lookalike.collection_for_simhashes(
    collection, coalesce(cardinality(id_texts), cardinality(id_numbers)), cardinality(simhashes)
  );
  radius constant integer := coalesce(k, lookalike.setting_k());
  nearest record;
  added bigint := 0;
BEGIN
  PERFORM lookalike.check_ids(id_texts, id_numbers);
  simhashes := lookalike.checked_simhashes(chosen, simhashes);
  PERFORM lookalike.lock_simhashes(collection, simhashes, radius);
  FOR place IN 1..cardinality(simhashes) LOOP
    SELECT s.id, s.id_number, s.distance INTO nearest FROM lookalike.search_simhash(collection, simhashes[place], radius) AS s LIMIT 1;
    IF FOUND THEN
      RETURN QUERY SELECT false, nearest.id, nearest.id_number, nearest.distance;
    ELSE
      added := added + lookalike.insert_simhashes(
        chosen, CASE WHEN id_texts IS NOT NULL THEN id_texts[place:place] END, CASE WHEN id_numbers IS NOT NULL THEN id_numbers[place:place] END,
        simhashes[place:place]
      );
      RETURN QUERY SELECT true, NULL::text, NULL::bigint, NULL::integer;
    END IF;
  END LOOP;
  UPDATE lookalike.collections SET documents = documents + added WHERE number = chosen AND added <> 0;
END $$;

CREATE OR REPLACE FUNCTION lookalike.search_simhash(collection text, q bit, k integer DEFAULT NULL)
RETURNS TABLE (id text, id_number bigint, simhash bigint, distance integer)
LANGUAGE sql STABLE
BEGIN ATOMIC
  SELECT s.id, s.id_number, s.simhash, s.distance FROM lookalike.search_simhash(collection, lookalike.simhash_of(q), k) AS s;
END;

-- What is near in a column of texts or of MinHashes: best first, then by key.
CREATE OR REPLACE FUNCTION lookalike.search_near(collection text, q text, threshold double precision DEFAULT NULL)
RETURNS TABLE (id text, id_number bigint, similarity double precision)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY EXECUTE lookalike.near_query(collection, 'text') USING lookalike.features(q), lookalike.near_threshold(collection, threshold);
END $$;

CREATE OR REPLACE FUNCTION lookalike.search_near(collection text, q bigint[], threshold double precision DEFAULT NULL)
RETURNS TABLE (id text, id_number bigint, similarity double precision)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY EXECUTE lookalike.near_query(collection, 'minhash') USING q, lookalike.near_threshold(collection, threshold);
END $$;

CREATE OR REPLACE FUNCTION lookalike.near_query(collection text, wanted text) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  chosen record;
BEGIN
  SELECT c.number, t.kind INTO chosen
  FROM lookalike.collections c LEFT JOIN lookalike.tables t ON t.collection = c.number WHERE c.number = lookalike.collection_named(near_query.collection);
  IF chosen.kind IS DISTINCT FROM wanted THEN
    RAISE EXCEPTION 'the collection % is not on a column of the kind %', quote_literal(collection), wanted USING HINT =
      'SQL cannot make the fingerprints of the library''s recipes. It searches texts that lookalike.index_table indexed; the others are searched with the library.';
  END IF;
  RETURN format(
    'SELECT key::text, %s, similarity FROM lookalike.bands_near_of_%s($1, $2) AS near ORDER BY similarity DESC, near.key',
    lookalike.key_number(chosen.number), chosen.number
  );
END $$;

-- SET lookalike.threshold = 0.9, or what the column was indexed for.
CREATE OR REPLACE FUNCTION lookalike.near_threshold(collection text, threshold double precision) RETURNS double precision
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  indexed constant double precision := (
    SELECT t.threshold FROM lookalike.tables t WHERE t.collection = lookalike.collection_named(near_threshold.collection)
  );
  wanted constant double precision := coalesce(threshold, nullif(current_setting('lookalike.threshold', true), '')::double precision, indexed);
BEGIN
  IF wanted < indexed OR wanted > 1 THEN
    RAISE EXCEPTION 'threshold is %, but the column was indexed for % and more', wanted, indexed
      USING ERRCODE = 'data_exception', HINT = 'Give a number up to 1, or index the column again for a smaller threshold.';
  END IF;
  RETURN wanted;
END $$;

-- Whether two fingerprints are within lookalike.k bits, or two arrays have lookalike.threshold: for conditions, as smlar has its operator %.
CREATE OR REPLACE FUNCTION lookalike.alike(a bigint, b bigint) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN lookalike.hamming(a, b) <= lookalike.setting_k();

CREATE OR REPLACE FUNCTION lookalike.alike(a bit, b bit) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN lookalike.hamming(a, b) <= lookalike.setting_k();

-- Who deletes documents by SQL need not count them. Transactions of the library, and the functions above, do so themselves: at their end, since
-- from there on other writers of the collection wait.
CREATE OR REPLACE FUNCTION lookalike.count_deleted() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF current_setting('lookalike.counted', true) = 'on' THEN
    RETURN NULL;
  END IF;
  IF TG_OP = 'TRUNCATE' THEN
    UPDATE lookalike.collections SET documents = 0 WHERE documents <> 0;
  ELSE
    UPDATE lookalike.collections SET documents = documents - gone
    FROM (SELECT collection, count(*) AS gone FROM deleted GROUP BY collection) AS counted WHERE number = counted.collection;
  END IF;
  RETURN NULL;
END $$;

-- Called when the schema is made, and to be called again by whoever puts another table, such as a partitioned one, in the place of it.
CREATE OR REPLACE FUNCTION lookalike.count_deletes() RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  CREATE OR REPLACE TRIGGER count_deleted AFTER DELETE ON lookalike.documents REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION lookalike.count_deleted();
  CREATE OR REPLACE TRIGGER count_truncated AFTER TRUNCATE ON lookalike.documents FOR EACH STATEMENT EXECUTE FUNCTION lookalike.count_deleted();
END $$;
SELECT lookalike.count_deletes();
