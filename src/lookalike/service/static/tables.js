// Tables out of files: lines as they come, and CSV as RFC 4180 has it.

/** The lines of a file, some thousand at a time, so that a large one is never in memory as a whole. */
export async function* linesOf(file, many = 1000, most = 4e6) {
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  let rest = '', some = [], size = 0;
  for (;;) {
    const { value, done } = await reader.read(), whole = (rest + (value || '')).split('\n');
    rest = done ? '' : whole.pop();
    for (const line of whole) {
      some.push(line); size += line.length;
      if (some.length >= many || size >= most) { yield some; some = []; size = 0; }
    }
    if (done) { if (some.some(line => line.trim())) yield some; return; }
  }
}
/** The rows of a CSV or TSV file as objects, named by its first row. */
export function csvRows(text, sign = /^[^\n"]*\t/.test(text) ? '\t' : ',') {
  const rows = []; let row = [], cell = '', quoted = false;
  const end = () => { row.push(cell); cell = ''; };
  for (let i = text.charCodeAt(0) === 0xfeff ? 1 : 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) { if (c !== '"') cell += c; else if (text[i + 1] === '"') { cell += '"'; i++; } else quoted = false; }
    else if (c === '"' && cell === '') quoted = true;
    else if (c === sign) end();
    else if (c === '\n') { end(); rows.push(row); row = []; }
    else if (c !== '\r') cell += c;
  }
  if (cell || row.length) { end(); rows.push(row); }
  const [names = [], ...values] = rows.filter(each => each.length > 1 || each[0] !== '');
  return values.map(each => Object.fromEntries(names.map((name, i) => [name.trim(), each[i] ?? ''])));
}
/** The files that were dropped, those in folders too. */
export async function droppedFiles(items) {
  const entries = [...items].map(item => item.webkitGetAsEntry?.()).filter(Boolean), found = [];
  const walk = async entry => {
    if (entry.isFile) return void found.push(await new Promise((take, fail) => entry.file(take, fail)));
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((take, fail) => reader.readEntries(take, fail));
      if (!some.length) return;
      for (const each of some) await walk(each);
    }
  };
  for (const entry of entries) await walk(entry);
  return found;
}
