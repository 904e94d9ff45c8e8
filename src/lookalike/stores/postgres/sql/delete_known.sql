-- What is there under these ids goes, in the text of the functions that say so: `removed` says how many it was.
WITH known AS MATERIALIZED (
    SELECT ordinal FROM unnest(id_texts) AS given (id), LATERAL (
      SELECT ordinal FROM lookalike.documents WHERE collection = chosen AND id_text = given.id OFFSET 0
    ) AS found
    UNION
    SELECT ordinal FROM unnest(id_numbers) AS given (id), LATERAL (
      SELECT ordinal FROM lookalike.documents WHERE collection = chosen AND id_number = given.id OFFSET 0
    ) AS found
  )
  DELETE FROM lookalike.documents WHERE collection = chosen AND ordinal = ANY (ARRAY(SELECT ordinal FROM known));
  GET DIAGNOSTICS removed = ROW_COUNT;
