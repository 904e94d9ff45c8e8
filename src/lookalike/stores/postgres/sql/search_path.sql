-- Version 5. Functions look names up in pg_catalog alone; they are written anew behind this. What earlier versions made was looked up on the
-- path of the role that made it: where somebody had put a function or an operator of theirs on it, defaults, generated columns, checks and
-- indexes call that since.
DO $$
DECLARE
  strange text;
BEGIN
  SELECT string_agg(DISTINCT pg_describe_object(d.refclassid, d.refobjid, 0), ', ') INTO strange
  FROM pg_depend d
  LEFT JOIN pg_attrdef a ON d.classid = 'pg_attrdef'::regclass AND a.oid = d.objid
  LEFT JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid
  JOIN pg_class t ON t.oid = CASE WHEN d.classid = 'pg_class'::regclass THEN d.objid ELSE coalesce(a.adrelid, k.conrelid) END
  LEFT JOIN pg_proc f ON d.refclassid = 'pg_proc'::regclass AND f.oid = d.refobjid
  LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
  WHERE t.relnamespace = 'lookalike'::regnamespace AND (t.relkind <> 'i' OR t.relname LIKE '%\_by\_%')
    AND coalesce(f.pronamespace, o.oprnamespace) <> ALL (ARRAY['pg_catalog'::regnamespace, 'lookalike'::regnamespace]);
  IF strange IS NOT NULL THEN
    RAISE EXCEPTION 'the tables of the schema ''lookalike'' call what somebody else made: %. Export the documents with a role that owns nothing else, drop the schema and load them again', strange;
  END IF;
END $$;
