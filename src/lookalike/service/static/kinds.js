// The kinds of edits, in the order in which the service numbers them in short rows.
export const KINDS = ['kept', 'moved', 'reworded', 'deleted', 'inserted'];
