-- The number of the collection with this name or alias.
CREATE OR REPLACE FUNCTION lookalike.collection_named(name text) RETURNS integer
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  found integer;
BEGIN
  SELECT c.number INTO found FROM lookalike.collections c WHERE c.name = collection_named.name;
  IF found IS NULL THEN
    SELECT a.collection INTO found FROM lookalike.aliases a WHERE a.name = collection_named.name;
  END IF;
  IF found IS NULL THEN
    RAISE EXCEPTION 'there is no collection %', quote_literal(name) USING HINT = 'See lookalike.collections.';
  END IF;
  RETURN found;
END $$;
