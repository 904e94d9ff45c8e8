-- The locks of those who ask and add at once, whether through the library or through admit_simhash: what could collide has a lock in common,
-- and nothing else waits. They are held until the transaction ends.

-- Wait until nobody else decides who has one of these keys. All take them in one order, so nobody waits for somebody who waits for him.
-- NULL, or more keys than one transaction may have: until nobody else decides at all.
--
-- All databases of a server share its table of locks, which has room for max_locks_per_transaction of each connection. A transaction may have
-- eight times as many, in one call or several; whoever has more than his own needs a seat, and all seats together have half of the table. So
-- however many come at once, there is room for them, and for everybody else.
CREATE OR REPLACE FUNCTION lookalike.lock_keys(collection_number integer, keys bigint[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  whole constant bigint := hashint8extended(collection_number, 1);
  mixing constant bigint := hashint8extended(collection_number, 2);   -- so that collections have no locks in common
  own constant integer := current_setting('max_locks_per_transaction')::integer;
  before constant integer := coalesce(nullif(current_setting('lookalike.locks', true), ''), '0')::integer;   -- of this transaction
  wanted constant integer := before + cardinality(keys);
BEGIN
  IF keys IS NULL OR wanted > 8 * own THEN
    PERFORM pg_advisory_xact_lock(whole);
    RETURN;
  END IF;
  IF wanted > own AND before <= own THEN
    PERFORM lookalike.take_a_seat();
  END IF;
  PERFORM set_config('lookalike.locks', wanted::text, true);   -- a savepoint that is rolled back gives both back
  PERFORM pg_advisory_xact_lock_shared(whole);
  PERFORM pg_advisory_xact_lock(lock) FROM (SELECT DISTINCT key # mixing AS lock FROM unnest(keys) AS key ORDER BY lock OFFSET 0) AS locks;
END $$;

-- One of six for 100 connections: any that is free, or else that of this session.
CREATE OR REPLACE FUNCTION lookalike.take_a_seat() RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  seats constant integer := greatest(
    (current_setting('max_connections')::integer + current_setting('max_prepared_transactions')::integer) / 16, 1
  );
BEGIN
  FOR seat IN 1..seats LOOP
    IF pg_try_advisory_xact_lock(hashint8extended(seat, 3)) THEN
      RETURN;
    END IF;
  END LOOP;
  PERFORM pg_advisory_xact_lock(hashint8extended(1 + pg_backend_pid() % seats, 3));
END $$;

-- What is true of a collection: how many documents it has, and which of them have expired.
CREATE OR REPLACE FUNCTION lookalike.look(collection_number integer, now bigint) RETURNS TABLE (documents bigint, expired bigint[])
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY SELECT c.documents, ARRAY(
    SELECT e.ordinal FROM lookalike.expiring e JOIN lookalike.documents d USING (collection, ordinal)
    WHERE e.collection = c.number AND e.expires <= now
  ) FROM lookalike.collections c WHERE c.number = collection_number;
END $$;

-- The locks, and what is then true. In one message; the second statement sees what the last holder of the locks has written.
CREATE OR REPLACE FUNCTION lookalike.lock_and_look(collection_number integer, keys bigint[], now bigint)
RETURNS TABLE (documents bigint, expired bigint[])
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM lookalike.lock_keys(collection_number, keys);
  RETURN QUERY SELECT l.documents, l.expired FROM lookalike.look(collection_number, now) AS l;
END $$;

-- The keys of fingerprints that are admitted: two within k bits have one in common, also where the other is admitted with another k. Of four
-- quarters one is equal in two fingerprints within 3 bits, of eight eighths one within 7. Who has a larger k waits for everybody: parts would
-- be so small that nearly all share some. The library computes the same (stores/kinds/simhash.py).
CREATE OR REPLACE FUNCTION lookalike.collision_keys(simhashes bigint[], bits integer, k integer) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET jit = off   -- the planner takes them for millions: to compile the expression would take half a second
AS $$
BEGIN
  IF k > 7 THEN
    RETURN NULL;
  END IF;
  RETURN ARRAY(
    SELECT DISTINCT (65536 + 16 * parts + part)::bigint << 32 | (value >> bits / parts * part & (1::bigint << bits / parts) - 1)
    FROM unnest(simhashes) AS value, generate_series(4, CASE WHEN k <= 3 THEN 4 ELSE 8 END, 4) AS parts, generate_series(0, parts - 1) AS part
  );
END $$;

CREATE OR REPLACE FUNCTION lookalike.lock_simhashes(collection text, simhashes bigint[], k integer DEFAULT NULL) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  radius constant integer := coalesce(k, lookalike.setting_k());
  chosen record;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'to ask and add at once, what others have just committed must be seen' USING ERRCODE = 'invalid_transaction_state',
      HINT = 'Use the isolation level READ COMMITTED, which is the default.';
  END IF;
  IF radius < 0 THEN
    RAISE EXCEPTION 'k is %, expected 0 or more', radius USING ERRCODE = 'data_exception';
  END IF;
  SELECT c.number, c.bits INTO chosen FROM lookalike.collections c WHERE c.number = lookalike.collection_named(collection);
  PERFORM lookalike.lock_keys(chosen.number, lookalike.collision_keys(simhashes, least(chosen.bits, 64), radius));
END $$;
